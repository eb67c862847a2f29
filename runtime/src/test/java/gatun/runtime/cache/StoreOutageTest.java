// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class StoreOutageTest {
    private long now = Long.MAX_VALUE - 1; // about to overflow, as nanoTime may be
    private final StoreOutage outage = new StoreOutage(() -> now);

    private void pass(Duration time) {
        now += time.toNanos();
    }

    @Test
    void shouldAdmitEverybodyWhileTheStoreWorks() {
        assertThat(outage.admits()).isTrue();
        assertThat(outage.worked()).as("it had not failed").isFalse();
        assertThat(outage.admits()).isTrue();
    }

    @Test
    void shouldAdmitOneRequestAfterAPauseThatDoubles() {
        assertThat(outage.failed()).as("it had worked").isTrue();
        assertThat(outage.admits()).isFalse();
        pass(Duration.ofMillis(999));
        assertThat(outage.admits()).isFalse();
        pass(Duration.ofMillis(1));
        assertThat(outage.admits()).isTrue();
        assertThat(outage.admits()).as("one tries for all").isFalse();
        assertThat(outage.failed()).as("it had worked").isFalse();
        pass(Duration.ofMillis(1999));
        assertThat(outage.admits()).isFalse();
        pass(Duration.ofMillis(1));
        assertThat(outage.admits()).isTrue();
    }

    @Test
    void shouldTryOnceAMinuteAtLeast() {
        for (int i = 0; i < 100; i++) {
            outage.failed();
        }
        pass(Duration.ofMinutes(1));
        assertThat(outage.admits()).isTrue();
    }

    @Test
    void shouldAdmitEverybodyAgainOnceTheStoreWorks() {
        outage.failed();
        pass(Duration.ofSeconds(1));
        assertThat(outage.admits()).isTrue();
        assertThat(outage.worked()).isTrue();
        assertThat(outage.admits()).isTrue();
        assertThat(outage.admits()).isTrue();
        assertThat(outage.failed()).isTrue();
    }
}
