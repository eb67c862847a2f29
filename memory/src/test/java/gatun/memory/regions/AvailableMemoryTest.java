// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class AvailableMemoryTest {
    @Test
    void shouldReadWhatTheSystemHasLeft() {
        List<String> meminfo = List.of("MemTotal:       24689848 kB", "MemAvailable:    1048576 kB", "Buffers: 1 kB");
        assertThat(AvailableMemory.systemBytes(meminfo)).isEqualTo(1L << 30);
    }

    @Test
    void shouldSubtractWhatAContainerUsesFromItsLimit() {
        assertThat(AvailableMemory.containerBytes(List.of("1000"), List.of("300")))
                .isEqualTo(700);
        assertThat(AvailableMemory.containerBytes(List.of("1000"), List.of("1300")))
                .isZero();
    }

    @Test
    void shouldSetNoBoundWhereNoneIsKnown() {
        assertThat(AvailableMemory.containerBytes(List.of("max"), List.of("300")))
                .isEqualTo(Long.MAX_VALUE);
        assertThat(AvailableMemory.containerBytes(List.of(), List.of())).isEqualTo(Long.MAX_VALUE);
        assertThat(AvailableMemory.systemBytes(List.of())).isEqualTo(Long.MAX_VALUE);
        assertThat(AvailableMemory.byteSize()).isPositive();
    }
}
