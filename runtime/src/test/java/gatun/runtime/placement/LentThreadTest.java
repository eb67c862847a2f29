// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LentThreadTest {
    private final AtomicInteger taken = new AtomicInteger();

    /** Runs {@code work} on a thread that others wait for. */
    private void lent(Runnable work) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            LentThread.beginLending(taken::incrementAndGet);
            try {
                work.run();
                done.complete(null);
            } catch (Throwable t) {
                done.completeExceptionally(t);
            }
        });
        done.join();
    }

    @Test
    void shouldBeTakenBackOnceIfItWaitsForLong() {
        lent(() -> {
            while (taken.get() == 0) {
                LentThread.parkNanos(this, Long.MAX_VALUE); // any parking may end for no reason
            }
            LentThread.parkNanos(this, 2 * RunPlacement.LONG_WAIT_NANOS);
        });
        assertThat(taken).hasValue(1);
    }

    @Test
    void shouldParkAsUsualWhereNobodyWaits() throws InterruptedException {
        CountDownLatch woken = new CountDownLatch(1);
        Thread thread = Thread.ofPlatform().start(() -> {
            LentThread.park(this);
            woken.countDown();
        });
        while (woken.getCount() > 0) {
            LockSupport.unpark(thread);
            Thread.onSpinWait();
        }
        thread.join();
        assertThat(taken).hasValue(0);
    }

    @Test
    void shouldLeaveLongRunsToOthers() {
        InlineRunLimiter runs = new InlineRunLimiter(2);
        lent(() -> {
            assertThat(runs.tryBegin(RunPlacement.LONG_WAIT_NANOS)).isTrue();
            assertThat(runs.tryBegin(RunPlacement.LONG_WAIT_NANOS + 1)).isFalse();
        });
        CompletableFuture<Boolean> elsewhere = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> elsewhere.complete(runs.tryBegin(RunPlacement.LONG_WAIT_NANOS + 1)));
        assertThat(elsewhere.join()).as("on a thread that nobody waits for").isTrue();
    }
}
