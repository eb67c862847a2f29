// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.threads.FailureLog;
import gatun.runtime.execution.ServedModel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends unreachable versions once their requests are done, each change on its own thread. Thread-safe. */
final class Unloader {
    private static final Logger LOG = LoggerFactory.getLogger(Unloader.class);
    private static final Duration FOREVER = Duration.ofDays(365);

    /** How long it may take to tidy up after versions that have ended. */
    private static final Duration AFTERWARDS = Duration.ofSeconds(10);

    /** How many changes begin at once: freeing native memory stops all threads, and a thousand would collide. */
    private static final int TOGETHER = 16;

    /** How long a change waits for that at most: others may wait for requests that take long. */
    private static final Duration WAIT = Duration.ofMillis(50);

    private final Semaphore together = new Semaphore(TOGETHER);

    /** Versions that have not ended, by the thread that waits for them. */
    private final Map<CountDownLatch, List<ServedModel>> ending = new ConcurrentHashMap<>();

    /** Has {@code models} refuse new requests from now on, and ends them. */
    void end(List<ServedModel> models, Runnable afterwards) {
        if (models.isEmpty()) {
            afterwards.run();
            return;
        }
        models.forEach(ServedModel::drain);
        boolean counted = takeTurn();
        // Known before its thread runs: the server may close at any moment.
        CountDownLatch ended = new CountDownLatch(1);
        ending.put(ended, List.copyOf(models));
        // A platform thread: engines give up memory on it.
        Thread.ofPlatform()
                .name("unload-" + models.getFirst().name())
                .daemon(true)
                .start(() -> {
                    try {
                        models.forEach(model -> close(model, FOREVER));
                        afterwards.run();
                    } finally {
                        ending.remove(ended);
                        ended.countDown();
                        if (counted) {
                            together.release();
                        }
                    }
                });
    }

    /** Whether a turn was free in time. */
    private boolean takeTurn() {
        try {
            return together.tryAcquire(WAIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
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

    /** Waits until all have ended; false after {@code grace}. Requests without an instance are refused then. */
    boolean close(Duration grace) {
        long deadline = System.nanoTime() + grace.toNanos();
        boolean ended = true;
        for (Map.Entry<CountDownLatch, List<ServedModel>> waiting :
                Map.copyOf(ending).entrySet()) {
            boolean all = true;
            for (ServedModel model : waiting.getValue()) {
                all &= close(model, Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
            }
            ended &= all && await(waiting.getKey());
        }
        return ended;
    }

    private static boolean await(CountDownLatch ended) {
        try {
            return ended.await(AFTERWARDS.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ended.getCount() == 0;
        }
    }
}
