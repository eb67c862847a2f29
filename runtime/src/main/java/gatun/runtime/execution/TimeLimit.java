// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Limits runs that nobody asked for: their engine is told to stop, and if it goes on, it is reported. Thread-safe. */
final class TimeLimit {
    /** How long an engine may take to stop: mostly one operator. */
    static final Duration GRACE = Duration.ofMillis(200);

    private static final Logger LOG = LoggerFactory.getLogger(TimeLimit.class);

    private final long endNanos;
    private final Runnable stop;
    private final Runnable overdue;
    private final CountDownLatch closed = new CountDownLatch(1);

    /** Keeps this from ending while somebody is told that the time is over. Held for a moment only. */
    private final ReentrantLock ending = new ReentrantLock();

    private TimeLimit(Duration limit, Runnable stop, Runnable overdue) {
        this.stop = stop;
        this.overdue = overdue;
        endNanos = System.nanoTime() + limit.toNanos();
    }

    /**
     * Does work within a limit that begins now; returns when the work does. {@code stop} tells the engine to stop;
     * {@code overdue} runs once, on another thread, when it has not {@link #GRACE} later. Both must return at once.
     */
    static void within(Duration limit, Runnable stop, Runnable overdue, Consumer<TimeLimit> work) {
        TimeLimit begun = new TimeLimit(limit, stop, overdue);
        Thread.ofVirtual().name("time-limit").start(() -> begun.watch(limit));
        try {
            work.accept(begun);
        } finally {
            begun.close();
        }
    }

    private void watch(Duration limit) {
        try {
            if (closed.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
            unlessClosed(stop);
            if (!closed.await(GRACE.toNanos(), TimeUnit.NANOSECONDS)) {
                unlessClosed(overdue);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void unlessClosed(Runnable action) {
        ending.lock();
        try {
            if (closed.getCount() > 0) {
                action.run();
            }
        } catch (RuntimeException | Error e) {
            LOG.error("A run that takes too long could not be ended", e);
        } finally {
            ending.unlock();
        }
    }

    boolean isOver() {
        return leftNanos() <= 0;
    }

    /** How much of the time is left, in nanoseconds. */
    long leftNanos() {
        return endNanos - System.nanoTime();
    }

    /** Tells the engine again to stop at the deadline, since a new run forgets it. For the thread of the run. */
    void stopIfOver() {
        if (isOver()) {
            stop.run();
        }
    }

    /** Ends the limit: from now on nobody is told anything. */
    private void close() {
        ending.lock();
        try {
            closed.countDown();
        } finally {
            ending.unlock();
        }
    }
}
