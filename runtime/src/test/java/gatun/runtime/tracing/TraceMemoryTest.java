// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TraceMemoryTest {
    private final TraceMemory memory = new TraceMemory(100);

    @Test
    void shouldHaveRoomForNoMoreThanItsLimit() {
        assertThat(memory.take(60)).isTrue();
        assertThat(memory.take(41)).isFalse();
        assertThat(memory.take(40)).isTrue();
        assertThat(memory.take(Long.MAX_VALUE)).isFalse();
        assertThat(memory.held()).isEqualTo(100);
        memory.giveBack(60);
        assertThat(memory.take(60)).isTrue();
        assertThat(memory.held()).isEqualTo(100);
    }
}
