// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessMemoryTest {
    @ParameterizedTest
    @CsvSource({
        "25769803776,6442450944",
        "1073741824,268435456",
        "1073741820,268435455",
        "536870912,134217728",
        "0,268435456",
        "-1,268435456"
    })
    void shouldGiveThePoolAQuarter(long memoryByteSize, long poolByteSize) {
        assertThat(ProcessMemory.poolByteSize(memoryByteSize)).isEqualTo(poolByteSize);
    }
}
