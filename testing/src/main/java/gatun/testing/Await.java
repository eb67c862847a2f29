// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** Waits in tests for another thread or process. After a minute the test fails. */
public final class Await {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Duration INTERVAL = Duration.ofMillis(1);

    private Await() {}

    /**
     * Waits until {@code condition} holds, which the calling thread looks at again and again.
     *
     * @param what is waited for, to be read behind "waiting for"
     */
    public static void until(String what, Callable<Boolean> condition) {
        Awaitility.await("waiting for " + what)
                .pollInSameThread()
                .pollDelay(Duration.ZERO)
                .pollInterval(INTERVAL)
                .atMost(LIMIT)
                .until(condition);
    }

    /** Waits until {@code latch} has been counted down. */
    public static void opened(CountDownLatch latch) {
        try {
            assertThat(latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .as("the latch is opened in time")
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for a latch", e);
        }
    }
}
