// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.testing.Await;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PlatformThreadsTest {
    @Test
    void shouldRunOnThePlatformThreadOfTheCaller() {
        AtomicReference<Thread> runner = new AtomicReference<>();
        PlatformThreads.run("unused", () -> runner.set(Thread.currentThread()));
        assertThat(runner.get()).isSameAs(Thread.currentThread());
    }

    @Test
    void shouldMoveWorkOffAVirtualThreadAndBringItsErrorBack() throws Exception {
        AtomicReference<Thread> runner = new AtomicReference<>();
        FutureTask<Integer> task = new FutureTask<>(() -> {
            PlatformThreads.run("memory-work", () -> {
                runner.set(Thread.currentThread());
                throw new IllegalStateException("no room");
            });
            return 0;
        });
        Thread.ofVirtual().start(task);
        assertThatThrownBy(() -> task.get(30, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasRootCauseMessage("no room");
        assertThat(Objects.requireNonNull(runner.get()).isVirtual()).isFalse();
        assertThat(runner.get().getName()).isEqualTo("memory-work");
    }

    @Test
    void shouldFinishBeforeAnInterruptIsSeen() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        FutureTask<Boolean> task = new FutureTask<>(() -> {
            PlatformThreads.run("memory-work", () -> {
                started.countDown();
                Await.opened(mayEnd);
            });
            return Thread.currentThread().isInterrupted();
        });
        Thread caller = Thread.ofVirtual().start(task);
        Await.opened(started);
        caller.interrupt();
        mayEnd.countDown();
        assertThat(task.get(30, TimeUnit.SECONDS)).isTrue();
    }
}
