// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.memory.threads.FailureLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The platform thread of one instance. While it is idle it parks, and whoever has work for it wakes it directly.
 *
 * @param <T> what it runs
 */
final class InstanceThread<T extends Ticket> {
    private static final Logger LOG = LoggerFactory.getLogger(InstanceThread.class);

    private final int ordinal;
    private final Worker<T> worker;
    private final @Nullable RunPermit turn;
    private final Runnable waking = this::wake;
    private final Thread thread;
    private final CountDownLatch opened = new CountDownLatch(1);
    /** Written before {@link #opened} is counted down, read after. */
    private @Nullable Throwable openFailure;

    /** Set when its instance is given nothing new any more. */
    private volatile boolean retired;

    /** Set by whoever wakes this thread. */
    private volatile boolean woken;

    /**
     * A thread that has not started.
     *
     * @param ordinal its number among the scheduler's threads, from 0
     * @param loop runs tickets until the scheduler ends; called on the thread when the worker has opened
     * @param broken told when {@code loop} has thrown: the thread ends then, though the scheduler does not
     */
    InstanceThread(int ordinal, Worker<T> worker, Consumer<InstanceThread<T>> loop, Consumer<Throwable> broken) {
        this.ordinal = ordinal;
        this.worker = worker;
        turn = worker.turn().orElse(null);
        // A daemon: an engine that never returns must not keep the process alive after its grace period.
        thread = Thread.ofPlatform().name(worker.threadName()).daemon(true).unstarted(() -> live(loop, broken));
    }

    int ordinal() {
        return ordinal;
    }

    /** The worker that it opens, runs and closes. */
    Worker<T> worker() {
        return worker;
    }

    void start() {
        thread.start();
    }

    private void live(Consumer<InstanceThread<T>> loop, Consumer<Throwable> broken) {
        try {
            worker.open();
        } catch (Throwable t) {
            openFailure = t;
            return;
        } finally {
            opened.countDown();
        }
        Thread.interrupted(); // left by the worker: this thread would never sleep
        try {
            loop.accept(this);
        } catch (Throwable t) {
            FailureLog.write(
                    t, failure -> LOG.error("Thread {} ends because of a fault", worker.threadName(), failure));
            broken.accept(t);
        } finally {
            worker.close();
        }
    }

    /**
     * Waits until the worker is ready, and throws its failure when it could not open. Uninterruptible: loading is not
     * abandoned half way.
     */
    void awaitOpen() {
        boolean interrupted = false;
        while (true) {
            try {
                opened.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        switch (openFailure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable t -> throw new AssertionError("a worker may not throw this", t);
        }
    }

    /**
     * Runs tickets that are marked as running, on this thread; returns how long it took, in nanoseconds. A failure of
     * the worker, which is a fault, is logged and ends nothing.
     */
    long run(List<T> batch) {
        assert Thread.currentThread().equals(thread) : "run by " + Thread.currentThread();
        try {
            return worker.run(batch);
        } catch (Throwable t) {
            logFault(t);
            return 0;
        } finally {
            // Nobody interrupts this thread but the code that it runs; with the mark set it would never sleep again.
            Thread.interrupted();
        }
    }

    /**
     * As {@link #run}, on the calling thread, while this thread has nothing to run. A mark of interruption that the run
     * leaves is taken away: it would break what the caller does next, such as the write of the response. One that was
     * there before stays.
     */
    long runElsewhere(List<T> batch) {
        boolean interrupted = Thread.interrupted();
        try {
            return worker.run(batch);
        } catch (Throwable t) {
            logFault(t);
            return 0;
        } finally {
            Thread.interrupted();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void logFault(Throwable fault) {
        FailureLog.write(fault, failure -> LOG.error("A run of {} failed unexpectedly", worker.threadName(), failure));
    }

    /** As {@link RunPermit#ask}; this thread is woken when the turn has come. */
    boolean askForTurn() {
        return turn == null || turn.ask(waking);
    }

    /** As {@link RunPermit#decline}. */
    void declineTurn() {
        if (turn != null) {
            turn.decline();
        }
    }

    /** Ends the present sleep of this thread, or else its next one at once. */
    void wake() {
        woken = true;
        LockSupport.unpark(thread);
    }

    /** Parks until this thread is woken, or until the time is over. */
    void sleep(long nanos) {
        long deadline = System.nanoTime() + nanos;
        while (!woken) {
            if (nanos == Dispatcher.FOREVER) {
                LockSupport.park(this);
            } else {
                long remaining = deadline - System.nanoTime();
                if (remaining <= 0) {
                    break;
                }
                LockSupport.parkNanos(this, remaining);
            }
        }
        woken = false;
    }

    /** Notes that its instance is given nothing new any more. */
    void retire() {
        retired = true;
    }

    boolean isRetired() {
        return retired;
    }

    /** Whether it was started and its worker is closed, or never opened. */
    boolean hasEnded() {
        return thread.getState() == Thread.State.TERMINATED;
    }

    /** Waits for the thread to end; false when it has not, or when the caller was interrupted, whose mark is kept. */
    boolean join(Duration grace) {
        if (thread.getState() == Thread.State.NEW) {
            return true;
        }
        try {
            return thread.join(grace);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return !thread.isAlive();
        }
    }
}
