// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.memory.threads.FailureLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The platform thread of one instance, which parks when idle and is woken directly. Unless the runner is bound to a
 * thread, a long idle thread ends and the next work starts another: idle models cost no threads.
 */
final class InstanceThread<T extends PendingRequest> {
    private static final Logger LOG = LoggerFactory.getLogger(InstanceThread.class);

    /** How long a thread that could end waits for work. */
    static final Duration IDLE = Duration.ofSeconds(10);

    /** What the thread of an instance does. */
    private enum State {
        /** It runs, or sleeps and is not woken. */
        STARTED,
        /** It was woken: it looks for work before it sleeps again. */
        WOKEN,
        /** It has ended, or will at once; the next to wake it starts another. */
        RESTING
    }

    private final int ordinal;
    private final BatchRunner<T> runner;
    private final @Nullable RunPermit turn;
    private final Runnable waking = this::wake;
    private final Predicate<InstanceThread<T>> loop;
    private final Consumer<Throwable> broken;
    private final long idleNanos;
    private final AtomicReference<State> state = new AtomicReference<>(State.STARTED);
    private final CountDownLatch opened = new CountDownLatch(1);

    /** Keeps an abortion of the opening from what the thread does after it. */
    private final ReentrantLock aborting = new ReentrantLock();

    /** Counted down when the runner is closed, or did not open. */
    private final CountDownLatch ended = new CountDownLatch(1);

    /** Written before {@link #opened} is counted down, read after. */
    private @Nullable Throwable openFailure;

    /** Null before the start. Replaced by whoever changes the state from {@link State#RESTING}. */
    private volatile @Nullable Thread thread;

    /** Whether the thread ends after some time without work; as the runner is bound, or not, once it is open. */
    private volatile boolean mayRest;

    /** Whether there will be no more work to wait for: at most the end of a run on another thread. */
    private volatile boolean ending;

    /** Set when its instance is given nothing new any more. */
    private volatile boolean retired;

    /**
     * A thread that has not started. {@code loop} runs requests on it once it is woken, and returns true when the
     * scheduler has ended, false when {@link #sleep} was; {@code broken} is told when it throws, and only the instance
     * ends then.
     */
    InstanceThread(
            int ordinal,
            BatchRunner<T> runner,
            Predicate<InstanceThread<T>> loop,
            Consumer<Throwable> broken,
            Duration idle) {
        this.ordinal = ordinal;
        this.runner = runner;
        this.loop = loop;
        this.broken = broken;
        idleNanos = idle.toNanos();
        turn = runner.turn().orElse(null);
    }

    int ordinal() {
        return ordinal;
    }

    /** The runner that it opens, runs and closes. */
    BatchRunner<T> runner() {
        return runner;
    }

    /** Opens the runner on a thread of its own; to be called once. */
    void start() {
        startThread(this::open);
    }

    private void startThread(Runnable life) {
        // A daemon: an engine that never returns must not keep the process alive after its grace period.
        Thread next = Thread.ofPlatform().name(runner.threadName()).daemon(true).unstarted(life);
        thread = next;
        next.start();
    }

    private void open() {
        try {
            runner.open();
            mayRest = !runner.isBoundToThread();
            runner.prepare(this::markOpened);
        } catch (Throwable t) {
            openFailure = t;
            ended.countDown();
            return;
        } finally {
            markOpened();
        }
        Thread.interrupted(); // left by the runner or by abort: this thread would never sleep
        if (!mayRest || !rest()) {
            live();
        }
    }

    private void markOpened() {
        aborting.lock();
        try {
            opened.countDown();
        } finally {
            aborting.unlock();
        }
    }

    /** Has the runner's opening fail soon, unless it is over. */
    void abortOpening() {
        aborting.lock();
        try {
            Thread opening = thread;
            if (opened.getCount() > 0 && opening != null) {
                runner.abort();
                opening.interrupt();
            }
        } finally {
            aborting.unlock();
        }
    }

    /** The life of a thread whose runner is open: to its rest, or to the end of the instance. */
    private void live() {
        boolean resting = false;
        try {
            resting = !sleep(Dispatcher.FOREVER) || !loop.test(this);
        } catch (Throwable t) {
            FailureLog.write(
                    t, failure -> LOG.error("Thread {} ends because of a fault", runner.threadName(), failure));
            broken.accept(t);
        } finally {
            if (!resting) {
                close();
            }
        }
    }

    private void close() {
        try {
            runner.close();
        } finally {
            ended.countDown();
        }
    }

    /** Lets the thread end, unless it was woken. */
    private boolean rest() {
        return state.compareAndSet(State.STARTED, State.RESTING);
    }

    /** Waits until the runner is ready, also if interrupted, which aborts it. Throws its failure to open. */
    void awaitOpen(Runnable aborting) {
        boolean waits = true;
        while (waits) {
            try {
                opened.await();
                waits = false;
            } catch (InterruptedException e) {
                aborting.run();
            }
        }
        switch (openFailure) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable t -> throw new AssertionError("a runner may not throw this", t);
        }
    }

    /** Runs requests that are marked as running; returns the nanoseconds. Logs a fault of the runner. */
    long run(List<T> batch) {
        assert Thread.currentThread().equals(thread) : "run by " + Thread.currentThread();
        try {
            return runner.run(batch);
        } catch (Throwable t) {
            logFault(t);
            return 0;
        } finally {
            // Nobody interrupts this thread but the code that it runs; with the mark set it would never sleep again.
            Thread.interrupted();
        }
    }

    /**
     * As {@link #run}, on the calling thread, while this one has nothing to run. Clears an interrupt left by the run,
     * which would break the caller's next step, such as writing the response; an earlier one stays.
     */
    long runElsewhere(List<T> batch) {
        boolean interrupted = Thread.interrupted();
        try {
            return runner.run(batch);
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
        FailureLog.write(fault, failure -> LOG.error("A run of {} failed unexpectedly", runner.threadName(), failure));
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

    /** Ends the present sleep of this thread, or else its next one at once; starts it where it rests. */
    void wake() {
        if (state.getAndSet(State.WOKEN) == State.RESTING) {
            startAgain();
        } else {
            LockSupport.unpark(thread);
        }
    }

    private void startAgain() {
        try {
            startThread(this::live);
        } catch (OutOfMemoryError e) {
            // The system has no thread left. What was accepted is run all the same: a virtual thread needs none.
            LOG.warn("There is no thread for {}, which holds up others now: {}", runner.threadName(), e.getMessage());
            Thread next = Thread.ofVirtual().name(runner.threadName()).unstarted(this::live);
            thread = next;
            next.start();
        }
    }

    /** As {@link #wake}, where the thread has not ended: one that rests has nothing to do. */
    void wakeUnlessResting() {
        if (state.get() != State.RESTING) {
            wake();
        }
    }

    /** Ends an instance with a resting thread, once nothing more comes; a lent one when it is given back. */
    void endIfResting() {
        if (state.compareAndSet(State.RESTING, State.WOKEN)) {
            ending = true;
            thread = Thread.currentThread();
            live();
        }
    }

    /** Parks until woken or the time is over; false when the idle thread is to end, and another starts later. */
    boolean sleep(long nanos) {
        boolean mayEnd = mayRest && nanos == Dispatcher.FOREVER;
        long limit = mayEnd ? (ending ? 0 : idleNanos) : nanos;
        long deadline = System.nanoTime() + limit;
        while (state.get() != State.WOKEN) {
            if (limit == Dispatcher.FOREVER) {
                LockSupport.park(this);
                continue;
            }
            long remaining = deadline - System.nanoTime();
            if (remaining > 0) {
                LockSupport.parkNanos(this, remaining);
            } else if (!mayEnd) {
                break;
            } else if (rest()) {
                return false;
            }
        }
        state.set(State.STARTED);
        return true;
    }

    /** Notes that its instance is given nothing new any more. */
    void retire() {
        retired = true;
    }

    boolean isRetired() {
        return retired;
    }

    /** Whether it was started and its runner is closed, or never opened. */
    boolean hasEnded() {
        return ended.getCount() == 0;
    }

    /** Waits for that; false when it has not come, or when the caller was interrupted, whose mark is kept. */
    boolean join(Duration grace) {
        if (thread == null) {
            return true;
        }
        try {
            return ended.await(grace.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return hasEnded();
        }
    }
}
