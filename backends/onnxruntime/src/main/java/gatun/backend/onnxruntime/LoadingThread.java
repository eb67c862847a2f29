// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.ThreadPriority;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/**
 * Loads models on threads of lower priority, so that those who are served keep the cores meanwhile. Such a thread ends
 * with its task: its priority cannot be raised again.
 */
final class LoadingThread {
    /** So much lower that a thread which serves gets ten times as much of a core that both want. */
    private static final int STEPS = 10;

    private LoadingThread() {}

    /**
     * Runs {@code loading} on a thread of lower priority, and returns its result or throws its exception.
     * Uninterruptible: loading is not abandoned half way.
     *
     * @param name of the thread
     */
    static <T> T load(String name, Supplier<T> loading) {
        FutureTask<T> task = new FutureTask<>(() -> {
            ThreadPriority.lower(STEPS);
            return loading.get();
        });
        Thread.ofPlatform().daemon().name(name).start(task);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            switch (Objects.requireNonNull(e.getCause())) {
                case RuntimeException failure -> throw failure;
                case Error failure -> throw failure;
                default -> throw new AssertionError("a supplier may not throw this", e);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
