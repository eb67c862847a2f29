// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads that run parts of batches, beside the instances' own; as many as there are other cores. They come when
 * they are needed, and end when they have had no work for some time. Safe for any thread.
 */
final class PartThreads {
    private static final Duration IDLE = Duration.ofSeconds(10);

    private final Executor threads;

    /** @param most threads at a time, at least one */
    PartThreads(int most) {
        threads = new ThreadPoolExecutor(
                0,
                most,
                IDLE.toMillis(),
                TimeUnit.MILLISECONDS,
                new SynchronousQueue<>(),
                Thread.ofPlatform().daemon().name("onnx-part-", 1).factory(),
                new ThreadPoolExecutor.CallerRunsPolicy());
    }

    /** Runs {@code part} on a thread of these; where all have something to do, it is done when this returns. */
    <T> Future<T> run(Callable<T> part) {
        FutureTask<T> task = new FutureTask<>(part);
        try {
            threads.execute(task);
        } catch (OutOfMemoryError e) {
            task.run(); // The system has no more threads.
        }
        return task;
    }
}
