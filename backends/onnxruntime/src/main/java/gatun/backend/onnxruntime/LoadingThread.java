// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.ThreadPriority;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Loads models on threads of lower priority, which cannot be raised again. Thread-safe. */
final class LoadingThread {
    /** So much lower that a thread which serves gets ten times as much of a core that both want. */
    private static final int STEPS = 10;

    /** How long one waits for the next load: a repository has many, one after the other. */
    private static final Duration IDLE = Duration.ofSeconds(1);

    /** As many threads as there are loads at a time, which is what those who ask limit. */
    private static final ExecutorService THREADS = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, IDLE.toMillis(), TimeUnit.MILLISECONDS, new SynchronousQueue<>(), LoadingThread::of);

    private LoadingThread() {}

    private static Thread of(Runnable loads) {
        return Thread.ofPlatform().daemon().name("onnx-load").unstarted(() -> {
            ThreadPriority.lower(STEPS);
            loads.run();
        });
    }

    /** Runs {@code loading} on a thread of lower priority, to its end; returns or throws its outcome. */
    static <T> T load(Supplier<T> loading) {
        return TaskResult.of(THREADS.submit(loading::get));
    }

    /** Waits for what another thread does with the engine, which is not abandoned half way. */
    static final class TaskResult {
        private TaskResult() {}

        /** What {@code task} returns, or the exception that it throws. Uninterruptible. */
        static <T> T of(Future<T> task) {
            await(task);
            if (task.state() == Future.State.SUCCESS) {
                return task.resultNow();
            }
            switch (task.exceptionNow()) {
                case RuntimeException failure -> throw failure;
                case Error failure -> throw failure;
                default -> throw new AssertionError("no such task may throw this", task.exceptionNow());
            }
        }

        /** Waits until {@code task} has ended, by whatever. Uninterruptible. */
        static void await(Future<?> task) {
            boolean interrupted = false;
            while (!task.isDone()) {
                try {
                    task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    break; // It has ended; whoever wants to know asks for its result.
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
