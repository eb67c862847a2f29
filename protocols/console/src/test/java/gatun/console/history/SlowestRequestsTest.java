// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SlowestRequestsTest {
    private static final long START_MILLIS = 1_700_000_000_000L;

    private final SlowestRequests slowest = new SlowestRequests();
    private final AtomicInteger made = new AtomicInteger();

    private void end(long nanos, long atMillis) {
        if (slowest.wants(nanos, atMillis)) {
            slowest.add(nanos, atMillis, () -> {
                made.incrementAndGet();
                return new SlowRequest(
                        1, "", atMillis, "v2", "http", 1, 0, 0, nanos, new SlowRequest.Stages(0, 0, 0, 0, 0, 0), "");
            });
        }
    }

    private List<Long> slowest(long nowMillis) {
        return slowest.slowest(nowMillis).stream().map(SlowRequest::totalNanos).toList();
    }

    @Test
    void shouldKeepTheSlowestTheSlowestFirst() {
        for (int i = 1; i <= 1000; i++) {
            end(i, START_MILLIS);
        }
        assertThat(slowest(START_MILLIS))
                .hasSize(SlowestRequests.KEPT)
                .startsWith(1000L, 999L)
                .endsWith(985L);
    }

    @Test
    void shouldMakeRecordsOfFewRequests() {
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 100_000; i++) {
            end(random.nextLong(1_000_000_000), START_MILLIS);
        }
        assertThat(made.get()).isLessThan(400);
        assertThat(slowest.wants(0, START_MILLIS)).isFalse();
    }

    @Test
    void shouldShowNoMoreThanItSays() {
        for (int part = 0; part < 6; part++) {
            for (int i = 0; i < 100; i++) {
                end(1 + i, START_MILLIS + TimeUnit.MINUTES.toMillis(10L * part));
            }
        }
        assertThat(slowest(START_MILLIS + TimeUnit.MINUTES.toMillis(50))).hasSize(SlowestRequests.SHOWN);
    }

    @Test
    void shouldForgetThoseOfAnHourAgoAndNotLetThemKeepOthersOut() {
        for (int i = 0; i < 100; i++) {
            end(1_000_000 + i, START_MILLIS);
        }
        long later = START_MILLIS + TimeUnit.MINUTES.toMillis(30);
        end(5, later);
        assertThat(slowest(later)).contains(1_000_099L, 5L);
        long muchLater = START_MILLIS + TimeUnit.MINUTES.toMillis(61);
        assertThat(slowest(muchLater)).containsExactly(5L);
        assertThat(slowest(muchLater + TimeUnit.HOURS.toMillis(1))).isEmpty();
    }
}
