// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Keeps system calls that take long off virtual threads, whose carriers they would hold. */
final class PlatformThreads {
    private PlatformThreads() {}

    /** Runs {@code task}, for virtual callers on a platform thread. An interrupt is kept for later. */
    static void run(String name, Runnable task) {
        if (!Thread.currentThread().isVirtual()) {
            task.run();
            return;
        }
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        Thread worker = Thread.ofPlatform().name(name).daemon().start(() -> {
            try {
                task.run();
            } catch (Throwable t) {
                failure.set(t);
            }
        });
        boolean interrupted = false;
        while (true) {
            try {
                worker.join();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        switch (failure.get()) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable t -> throw new AssertionError("a task that declares no checked exception threw one", t);
        }
    }
}
