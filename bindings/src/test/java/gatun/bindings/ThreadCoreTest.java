// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import org.junit.jupiter.api.Test;

class ThreadCoreTest {
    @Test
    void shouldTellACoreThatTheThreadMayRunOn() {
        assertThat(ThreadCore.allowed().get(ThreadCore.current())).isTrue();
    }

    @Test
    void shouldMoveToEachCoreAndLeaveTheAllowedOnesAsTheyAre() {
        BitSet allowed = ThreadCore.allowed();

        assertThat(allowed.stream()).isNotEmpty().allMatch(ThreadCore::moveTo);

        assertThat(ThreadCore.allowed()).isEqualTo(allowed);
    }

    @Test
    void shouldStayWhereACoreIsNotThere() {
        BitSet allowed = ThreadCore.allowed();

        assertThat(ThreadCore.moveTo(allowed.length())).isFalse();
        assertThat(ThreadCore.moveTo(-1)).isFalse();
        assertThat(ThreadCore.moveTo(Integer.MAX_VALUE)).isFalse();

        assertThat(ThreadCore.allowed()).isEqualTo(allowed);
    }
}
