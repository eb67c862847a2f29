// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.ThreadCore;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunCoresTest {
    private final BitSet allowed = ThreadCore.allowed();
    private final RunCores cores = new RunCores(allowed);

    @Test
    void shouldGiveEachRunACoreOfItsOwnWhileThereAreSome() {
        assertThat(enterOnEachCore()).doesNotHaveDuplicates().hasSize(allowed.cardinality());
    }

    @Test
    void shouldCountRunsBeyondTheCoresWhereTheyAre() {
        List<Integer> first = enterOnEachCore();

        assertThat(cores.enter()).isIn(first);
    }

    @Test
    void shouldUseACoreAgainWhoseRunHasEnded() {
        List<Integer> first = enterOnEachCore();
        int left = first.getLast();
        cores.leave(left);

        assertThat(cores.enter()).isEqualTo(left);
    }

    @Test
    void shouldLeaveThreadsAloneOnCoresThatItDoesNotKnow() {
        RunCores none = new RunCores(new BitSet());

        int core = none.enter();
        none.leave(core);

        assertThat(core).isNegative();
    }

    private List<Integer> enterOnEachCore() {
        List<Integer> entered = new ArrayList<>();
        for (int i = 0; i < allowed.cardinality(); i++) {
            entered.add(cores.enter());
        }
        return entered;
    }
}
