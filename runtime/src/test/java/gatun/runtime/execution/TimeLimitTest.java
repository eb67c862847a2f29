// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.Await;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TimeLimitTest {
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch overdue = new CountDownLatch(1);

    @Test
    void shouldTellNobodyWhereWorkIsOverInTime() {
        TimeLimit.within(Duration.ofDays(1), stopped::countDown, overdue::countDown, limit -> {
            assertThat(limit.isOver()).isFalse();
            limit.stopIfOver();
        });
        assertThat(stopped.getCount()).isEqualTo(1);
        assertThat(overdue.getCount()).isEqualTo(1);
    }

    @Test
    void shouldTellTheEngineToStopAndThenThatItHasNot() {
        TimeLimit.within(Duration.ofNanos(1), stopped::countDown, overdue::countDown, limit -> {
            Await.opened(stopped);
            assertThat(limit.isOver()).isTrue();
            Await.opened(overdue);
        });
    }

    @Test
    void shouldTellAnEngineAgainThatForgotIt() {
        AtomicInteger stops = new AtomicInteger();
        TimeLimit.within(Duration.ZERO, stops::incrementAndGet, overdue::countDown, limit -> {
            Await.until("the first time", () -> stops.get() > 0);
            limit.stopIfOver();
            assertThat(stops).hasValue(2);
        });
    }
}
