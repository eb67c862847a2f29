// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.Await;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class HeapTrimmerTest {
    private final Semaphore begun = new Semaphore(0);
    private final Semaphore permits = new Semaphore(0);
    private final AtomicInteger trims = new AtomicInteger();
    private final HeapTrimmer trimmer = new HeapTrimmer(() -> {
        begun.release();
        permits.acquireUninterruptibly();
        trims.incrementAndGet();
    });

    @Test
    void shouldTrimOnceForAllWhoAskDuringATrim() throws Exception {
        trimmer.ask();
        begun.acquire();
        for (int i = 0; i < 1000; i++) {
            trimmer.ask();
        }
        permits.release(2);
        begun.acquire();
        Await.until("the second trim", () -> trims.get() == 2);
        assertThat(permits.availablePermits()).isZero();
        assertThat(begun.tryAcquire()).as("a third").isFalse();
    }

    @Test
    void shouldTrimAgainForWhoAsksLater() throws Exception {
        permits.release(2);
        trimmer.ask();
        Await.until("the first trim", () -> trims.get() == 1);
        trimmer.ask();
        Await.until("the second trim", () -> trims.get() == 2);
        assertThat(begun.availablePermits()).isEqualTo(2);
    }
}
