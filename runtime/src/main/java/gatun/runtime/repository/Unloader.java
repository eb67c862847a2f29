// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.threads.FailureLog;
import gatun.runtime.execution.ServedModel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends versions that no request finds any more: each finishes what it accepted, however long that takes, and gives its
 * memory back. A thread for each change does the waiting, so that one that hangs holds nobody up. Safe for any thread.
 */
final class Unloader {
    private static final Logger LOG = LoggerFactory.getLogger(Unloader.class);
    private static final Duration FOREVER = Duration.ofDays(365);

    /** How long it may take to tidy up after versions that have ended. */
    private static final Duration AFTERWARDS = Duration.ofSeconds(10);

    /** Versions that have not ended, by the thread that waits for them. */
    private final Map<Thread, List<ServedModel>> ending = new ConcurrentHashMap<>();

    /**
     * Has {@code models} refuse new requests from now on, and ends them.
     *
     * @param afterwards called when all have ended
     */
    void end(List<ServedModel> models, Runnable afterwards) {
        if (models.isEmpty()) {
            afterwards.run();
            return;
        }
        models.forEach(ServedModel::drain);
        // A platform thread: engines give up memory on it.
        Thread thread = Thread.ofPlatform()
                .name("unload-" + models.getFirst().name())
                .daemon(true)
                .unstarted(() -> {
                    try {
                        models.forEach(model -> close(model, FOREVER));
                    } finally {
                        afterwards.run();
                        ending.remove(Thread.currentThread());
                    }
                });
        ending.put(thread, List.copyOf(models));
        thread.start();
    }

    private static boolean close(ServedModel model, Duration grace) {
        try {
            return model.close(grace);
        } catch (RuntimeException | Error e) {
            FailureLog.write(
                    e,
                    failure -> LOG.error(
                            "Unloading version {} of model '{}' failed", model.versionText(), model.name(), failure));
            return true;
        }
    }

    /**
     * Waits until all have ended; false when that takes longer than {@code grace}. What still waits for an instance
     * then is refused.
     */
    boolean close(Duration grace) {
        long deadline = System.nanoTime() + grace.toNanos();
        boolean ended = true;
        for (Map.Entry<Thread, List<ServedModel>> waiting : Map.copyOf(ending).entrySet()) {
            boolean all = true;
            for (ServedModel model : waiting.getValue()) {
                all &= close(model, Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
            }
            ended &= all && join(waiting.getKey());
        }
        return ended;
    }

    private static boolean join(Thread thread) {
        try {
            return thread.join(AFTERWARDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return !thread.isAlive();
        }
    }
}
