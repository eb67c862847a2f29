// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import gatun.testing.Await;
import java.nio.file.Files;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that is closed while a model is loaded waits for all that the load leaves behind. */
@Timeout(60)
class CloseDuringLoadTest extends ExplicitControl {
    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch never = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicInteger loads = new AtomicInteger();
    private final AtomicBoolean closedTooEarly = new AtomicBoolean();

    @Test
    void shouldWaitForAVersionThatAFailedLoadGivesUp() throws Exception {
        test.model("m", MODEL + "version_policy { all { } }", 1, 2);
        open("m");
        test.backend.beforeLoad = this::holdTheSecond;
        Files.writeString(repository.resolve("m/config.pbtxt"), MODEL + "version_policy { all { } } max_batch_size: 4");

        FutureTask<?> load = start(() -> load("m"));
        Await.opened(held);
        Await.until("the other version is there", () -> test.backend.open.get() == 6);
        test.backend.beforeClose = this::noteWhetherClosed;
        FutureTask<?> close = start(() -> {
            test.server().close();
            closed.countDown();
        });

        close.get(30, TimeUnit.SECONDS);
        assertThatThrownBy(() -> load.get(30, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("because the server stops");
        Await.until("the version that was given up is closed", () -> test.backend.open.get() == 0);
        assertThat(closedTooEarly)
                .as("the server was closed before its last version")
                .isFalse();
    }

    /** Holds the second version's load until it is told to end. */
    private void holdTheSecond() {
        if (loads.incrementAndGet() == 2) {
            held.countDown();
            try {
                never.await();
            } catch (InterruptedException e) {
                throw GatunException.invalidArgument("the load is told to end");
            }
        }
    }

    /** Gives a server that does not wait the time to show it. */
    private void noteWhetherClosed() {
        try {
            if (closed.await(200, TimeUnit.MILLISECONDS)) {
                closedTooEarly.set(true);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static FutureTask<?> start(Runnable action) {
        FutureTask<?> task = new FutureTask<>(action, null);
        Thread.ofPlatform().start(task);
        return task;
    }
}
