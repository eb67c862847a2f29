// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.memory.threads.FailureLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads of a scheduler, one for each instance of its model. Thread-safe. */
final class InstanceThreads<T extends PendingRequest> {
    private static final Logger LOG = LoggerFactory.getLogger(InstanceThreads.class);

    /** How long the other runners of one that failed to open may still take to open and close. */
    static final Duration OPENING_GRACE = Duration.ofMinutes(10);

    private final DecisionLock lock;
    private final Predicate<InstanceThread<T>> loop;
    private final Runnable stop;
    private final Duration idle;

    /** Whether the scheduler takes no more requests because one of the threads has ended by a fault. */
    private volatile boolean broken;

    /** By instance; replaced as a whole, under {@link #changing}. */
    private volatile List<InstanceThread<T>> threads;

    /** Those whose numbers others have now, until they end; replaced as a whole, under {@link #changing}. */
    private volatile List<InstanceThread<T>> former = List.of();

    private final ReentrantLock changing = new ReentrantLock();

    /**
     * Threads that have not started, at least one. {@code lock} is not held while runners open, run and close;
     * {@code loop} is as in {@link InstanceThread}; {@code stop} ends the scheduler when a thread has ended by a fault.
     */
    InstanceThreads(
            List<? extends BatchRunner<T>> runners,
            DecisionLock lock,
            Predicate<InstanceThread<T>> loop,
            Runnable stop,
            Duration idle) {
        this.lock = lock;
        this.loop = loop;
        this.stop = stop;
        this.idle = idle;
        List<InstanceThread<T>> first = new ArrayList<>(runners.size());
        for (int i = 0; i < runners.size(); i++) {
            first.add(make(i, runners.get(i)));
        }
        threads = List.copyOf(first);
    }

    private InstanceThread<T> make(int number, BatchRunner<T> runner) {
        return new InstanceThread<>(number, runner, loop, this::endAll, idle);
    }

    /** A thread has failed, so that nobody knows any more which instance has what: nothing is accepted from now on. */
    private void endAll(Throwable fault) {
        broken = true;
        try {
            stop.run();
        } catch (Throwable t) {
            t.addSuppressed(fault);
            FailureLog.write(t, failure -> LOG.error("What waits for a broken scheduler cannot be refused", failure));
        }
    }

    /** As {@link Scheduler#isBroken}. */
    boolean isBroken() {
        return broken;
    }

    /** Starts all and waits for their runners to open. Throws the first failure; an interrupt fails the rest. */
    void open() {
        open(threads);
    }

    private static <T extends PendingRequest> void open(List<InstanceThread<T>> opening) {
        opening.forEach(InstanceThread::start);
        Runnable aborting = () -> opening.forEach(InstanceThread::abortOpening);
        opening.forEach(thread -> thread.awaitOpen(aborting));
    }

    /** As {@link Scheduler#exchange}; runs {@code switched} under the lock when the new runners are in place. */
    boolean exchange(
            Dispatcher<T> dispatcher,
            List<? extends BatchRunner<T>> added,
            List<? extends BatchRunner<T>> removed,
            Runnable switched) {
        List<InstanceThread<T>> opening = new ArrayList<>();
        lock.lock();
        try {
            for (BatchRunner<T> runner : added) {
                int number = dispatcher.reserve();
                if (number == Dispatcher.NONE) {
                    return false; // Only the first can be refused: nobody stops the scheduler meanwhile.
                }
                opening.add(put(make(number, runner)));
            }
        } finally {
            lock.unlock();
        }
        List<InstanceThread<T>> leaving = threads.stream()
                .filter(thread -> removed.contains(thread.runner()))
                .toList();
        try {
            open(opening);
        } catch (RuntimeException | Error e) {
            retire(opening, dispatcher);
            join(opening, System.nanoTime() + OPENING_GRACE.toNanos());
            throw e;
        }
        lock.lock();
        try {
            long now = System.nanoTime();
            opening.forEach(thread -> dispatcher.admit(thread.ordinal(), now));
            leaving.forEach(thread -> dispatcher.retire(thread.ordinal(), now));
            leaving.forEach(InstanceThread::retire);
            switched.run();
        } finally {
            lock.unlock();
        }
        opening.forEach(InstanceThread::wake);
        leaving.forEach(InstanceThread::wake);
        return true;
    }

    private void retire(List<InstanceThread<T>> retired, Dispatcher<T> dispatcher) {
        lock.lock();
        try {
            long now = System.nanoTime();
            retired.forEach(thread -> dispatcher.retire(thread.ordinal(), now));
            retired.forEach(InstanceThread::retire);
        } finally {
            lock.unlock();
        }
        retired.forEach(InstanceThread::wake);
    }

    /** Gives a new thread its number, which may be that of one that ends. */
    private InstanceThread<T> put(InstanceThread<T> added) {
        changing.lock();
        try {
            List<InstanceThread<T>> next = new ArrayList<>(threads);
            if (added.ordinal() == next.size()) {
                next.add(added);
            } else {
                List<InstanceThread<T>> ending = new ArrayList<>(former);
                ending.removeIf(InstanceThread::hasEnded);
                ending.add(next.set(added.ordinal(), added));
                former = List.copyOf(ending);
            }
            threads = List.copyOf(next);
        } finally {
            changing.unlock();
        }
        return added;
    }

    /** The runners that are not being removed. */
    List<BatchRunner<T>> runners() {
        return threads.stream()
                .filter(thread -> !thread.isRetired())
                .map(InstanceThread::runner)
                .toList();
    }

    InstanceThread<T> get(int instance) {
        return threads.get(instance);
    }

    /** The run permits that the instances have to wait for. */
    RunPermits turns() {
        return new ThreadTurns();
    }

    /** The turns of the instances; those whose turn comes are woken. */
    private final class ThreadTurns implements RunPermits {
        @Override
        public boolean ask(int instance) {
            return threads.get(instance).askForTurn();
        }

        @Override
        public void decline(int instance) {
            threads.get(instance).declineTurn();
        }
    }

    /** Wakes an instance's thread, unless it is {@link Dispatcher#NONE}. */
    void wake(int instance) {
        if (instance != Dispatcher.NONE) {
            threads.get(instance).wake();
        }
    }

    /** Wakes all threads. {@code work} says whether there may be something for those too that rest. */
    void wakeAll(boolean work) {
        threads.forEach(work ? InstanceThread::wake : InstanceThread::wakeUnlessResting);
    }

    /**
     * Waits for all threads, also retired ones, to end; whether they have. Call it once no more requests are taken.
     * Ends resting instances itself, since a thread for each would be many when a server stops.
     */
    boolean join(Duration grace) {
        threads.forEach(InstanceThread::endIfResting);
        long deadline = System.nanoTime() + grace.toNanos();
        // The present ones first: while they are looked up, one of them may become a former one.
        boolean ended = join(threads, deadline);
        return join(former, deadline) && ended;
    }

    private static <T extends PendingRequest> boolean join(List<InstanceThread<T>> joined, long deadline) {
        boolean ended = true;
        for (InstanceThread<T> thread : joined) {
            ended &= thread.join(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
        }
        return ended;
    }

    /** The lock of a scheduler's decisions: held briefly, never during runs. Under it nobody borrows an instance. */
    static final class DecisionLock {
        private final ReentrantLock lock = new ReentrantLock();
        private volatile Runnable taken = () -> {};
        private volatile Runnable leaving = () -> {};

        /** Lends idle instances while it is not held: {@code recall} runs after locking, {@code offer} before unlocking. */
        void guard(Runnable recall, Runnable offer) {
            taken = recall;
            leaving = offer;
        }

        @SuppressWarnings("LockNotBeforeTry") // unlock() is the other half
        void lock() {
            lock.lock();
            taken.run();
        }

        void unlock() {
            try {
                leaving.run();
            } finally {
                lock.unlock();
            }
        }

        /** Takes the lock if it is free, without moving instances: to learn from runs. Ended by {@link #unlockToLearn}. */
        boolean tryLockToLearn() {
            return lock.tryLock();
        }

        void unlockToLearn() {
            lock.unlock();
        }
    }
}
