// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Platform threads that call CUDA for virtual ones; they end when they have been idle for a while. Safe for any thread.
 */
final class DeviceThreads {
    /** A GPU copies in each direction at once, and one call may wait. */
    private static final int COUNT = 4;

    private static final long IDLE_SECONDS = 10;

    private final ThreadPoolExecutor threads;

    DeviceThreads(String name) {
        threads = new ThreadPoolExecutor(
                COUNT,
                COUNT,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Thread.ofPlatform().daemon().name(name + "-", 0).factory());
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Runs {@code task} on one of the threads; returns its result, or throws what it throws. An interrupt does not end
     * the wait, since the task uses memory that the caller owns.
     */
    <T> T call(Supplier<T> task) {
        try {
            return CompletableFuture.supplyAsync(task, threads).join();
        } catch (CompletionException e) {
            switch (Objects.requireNonNullElse(e.getCause(), e)) {
                case RuntimeException failure -> throw failure;
                case Error failure -> throw failure;
                default -> throw e;
            }
        }
    }
}
