// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.threads.FailureLog;
import gatun.memory.threads.SupervisedThread;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts a registry's mappings, and unmaps on a thread of its own, since that is slow. Thread-safe. */
final class RegionReleaser implements AutoCloseable {
    private static final Logger LOG = System.getLogger("gatun.memory");

    /** How long {@link #close} waits for regions that nobody uses any more. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final AtomicInteger mapped = new AtomicInteger();
    private final BlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
    private final Thread thread;
    private volatile boolean closed;

    RegionReleaser() {
        thread = SupervisedThread.start("region-releaser", this::run);
    }

    /** Counts one mapping that is going to be made, unless there are {@code limit} already. */
    boolean tryCount(int limit) {
        for (int seen = mapped.get(); seen < limit; seen = mapped.get()) {
            if (mapped.compareAndSet(seen, seen + 1)) {
                return true;
            }
        }
        return false;
    }

    /** Counts out a mapping that could not be made. */
    void uncount() {
        mapped.decrementAndGet();
    }

    /** How many mappings there are, those included that are about to be unmapped. */
    int mappedCount() {
        return mapped.get();
    }

    /** Runs {@code unmap} soon and counts out. Does not wait. */
    void release(Runnable unmap) {
        work.add(() -> {
            try {
                unmap.run();
            } finally {
                mapped.decrementAndGet();
            }
        });
    }

    /** Ends the thread after the last mapping. Waits for that only briefly: a request may still hold a lease. */
    @Override
    public void close() {
        closed = true;
        // Wakes the thread, in case nothing is mapped.
        work.add(() -> {});
        try {
            thread.join(PATIENCE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (!closed || mapped.get() > 0) {
            try {
                work.take().run();
            } catch (InterruptedException e) {
                // Nobody has a reason to interrupt this thread, and what is mapped has to be unmapped all the same.
                LOG.log(Level.DEBUG, "the thread that unmaps regions was interrupted and goes on", e);
            } catch (Throwable t) {
                FailureLog.write(
                        t,
                        failure -> LOG.log(
                                Level.ERROR,
                                "a shared memory region could not be unmapped; its address space is lost",
                                failure));
            }
        }
    }
}
