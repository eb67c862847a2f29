// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import org.junit.jupiter.api.Test;

class CoreBindingTest {
    private final CoreBinding binding = new CoreBinding();

    @Test
    void shouldBindToTheChosenCoreUntilItIsReleased() {
        BitSet allowed = ThreadCore.allowed();
        int core = allowed.length() - 1;

        binding.choose(core);
        binding.bind();

        BitSet bound = ThreadCore.allowed();
        int runsOn = ThreadCore.current();
        binding.release();
        // A thread that has one core only is bound to it anyway.
        assertThat(bound.stream()).containsExactly(core);
        assertThat(runsOn).isEqualTo(core);
        assertThat(ThreadCore.allowed()).isEqualTo(allowed);
    }

    @Test
    void shouldBindToTheCoreThatWasChosenLast() {
        BitSet allowed = ThreadCore.allowed();
        binding.choose(allowed.length() - 1);

        int first = allowed.nextSetBit(0);
        binding.choose(first);
        binding.bind();

        BitSet bound = ThreadCore.allowed();
        binding.release();
        assertThat(bound.stream()).containsExactly(first);
    }

    @Test
    void shouldBindToNoCoreThatIsNotThere() {
        BitSet allowed = ThreadCore.allowed();

        for (int core : new int[] {CoreBinding.NO_CORE, allowed.length(), Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            binding.choose(core);
            binding.bind();

            assertThat(ThreadCore.allowed()).isEqualTo(allowed);
            binding.release();
            assertThat(ThreadCore.allowed()).isEqualTo(allowed);
        }
    }
}
