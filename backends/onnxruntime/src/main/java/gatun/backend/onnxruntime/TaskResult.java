// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** Waits for what another thread does with the engine, which is not abandoned half way. */
final class TaskResult {
    private TaskResult() {}

    /** What {@code task} returns, or the exception that it throws. Uninterruptible. */
    static <T> T of(Future<T> task) {
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
                default -> throw new AssertionError("no such task may throw this", e);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
