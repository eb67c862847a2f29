// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;

/** Waits for what another thread does with the engine, which is not abandoned half way. */
final class TaskResult {
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
