// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.posix.stat;
import org.junit.jupiter.api.Test;

class MachineTest {
    @Test
    void shouldKnowTheFieldsOfAFilesStatusAsTheHeaderHasThem() {
        assertThat(Machine.X86_64.modeOffset()).isEqualTo(stat.st_mode$offset());
        assertThat(Machine.X86_64.uidOffset()).isEqualTo(stat.st_uid$offset());
    }
}
