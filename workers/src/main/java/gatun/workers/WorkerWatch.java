// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.memory.threads.SupervisedThread;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Looks each second at what processes use, on a thread of its own from the first process on. Thread-safe. */
public final class WorkerWatch implements AutoCloseable {
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    private final Map<WorkerMetrics, Watched> watched = new ConcurrentHashMap<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    /** A process that is looked at. {@code killer} ends it where it uses too much. */
    record Watched(long pid, WorkerMetrics.Killer killer) {}

    private final AtomicBoolean started = new AtomicBoolean();

    /** Looks at none yet. */
    public WorkerWatch() {}

    /** Looks at a process from now on, instead of the one before. */
    void watch(WorkerMetrics metrics, Watched process) {
        watched.put(metrics, process);
        if (started.compareAndSet(false, true)) {
            SupervisedThread.start("worker-watch", this::run);
        }
    }

    void forget(WorkerMetrics metrics) {
        watched.remove(metrics);
    }

    private void run() {
        try {
            while (!closed.await(INTERVAL.toMillis(), TimeUnit.MILLISECONDS)) {
                watched.forEach(WorkerMetrics::look);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the thread soon. */
    @Override
    public void close() {
        closed.countDown();
    }
}
