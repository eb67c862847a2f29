// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Runs tickets on the threads of a model's instances, in the batches and the order that a {@link BatchPolicy} asks for.
 * The decisions are a {@link Dispatcher}'s; this gives it a clock, a lock and threads.
 *
 * @param <T> what is to be run
 */
public final class InstanceScheduler<T extends Ticket> implements Scheduler<T> {
    /** How long the other workers of one that failed to open may still take to open and close. */
    private static final Duration OPENING_GRACE = Duration.ofMinutes(10);

    /** Guards the dispatcher; held for a few steps only. */
    private final ReentrantLock lock = new ReentrantLock();

    private final Dispatcher<T> dispatcher;
    private final InstanceThreads<T> threads;

    private final InlineRuns inlineRuns;

    /** Whether short runs may be on the threads that bring the tickets; asked under the lock. */
    private volatile boolean lends;

    private InstanceScheduler(BatchPolicy policy, List<? extends Worker<T>> workers, InlineRuns inlineRuns) {
        this.inlineRuns = inlineRuns;
        threads = new InstanceThreads<>(workers, this::serve, this::stop);
        dispatcher = new Dispatcher<>(policy, workers.size(), threads.turns());
    }

    /**
     * Starts a thread for each worker and waits until all have opened. When one fails the others are closed again and
     * its failure is thrown.
     *
     * @param workers at least one
     */
    public static <T extends Ticket> InstanceScheduler<T> open(BatchPolicy policy, List<? extends Worker<T>> workers) {
        return open(policy, workers, InlineRuns.OF_THIS_JVM);
    }

    /** As {@link #open(BatchPolicy, List)}, with runs on request threads as far as {@code inlineRuns} lets them. */
    static <T extends Ticket> InstanceScheduler<T> open(
            BatchPolicy policy, List<? extends Worker<T>> workers, InlineRuns inlineRuns) {
        InstanceScheduler<T> scheduler = new InstanceScheduler<>(policy, workers, inlineRuns);
        try {
            scheduler.threads.open();
        } catch (RuntimeException | Error e) {
            scheduler.close(OPENING_GRACE);
            throw e;
        }
        scheduler.lends = mayRunElsewhere(workers);
        return scheduler;
    }

    private static boolean mayRunElsewhere(List<? extends Worker<?>> workers) {
        return workers.stream().noneMatch(Worker::isBoundToThread);
    }

    @Override
    public Admission submit(T ticket) {
        Admission admission = Admission.ACCEPTED;
        int woken = Dispatcher.NONE;
        int lent;
        lock.lock();
        try {
            lent = lends ? lend(ticket) : Dispatcher.NONE;
            if (lent == Dispatcher.NONE) {
                long now = System.nanoTime();
                admission = dispatcher.submit(ticket, now);
                woken = admission == Admission.ACCEPTED ? dispatcher.instanceToWake(now) : Dispatcher.NONE;
            }
        } finally {
            lock.unlock();
        }
        if (lent == Dispatcher.NONE) {
            threads.wake(woken);
        } else {
            runHere(lent, ticket);
        }
        return admission;
    }

    /** As {@link Dispatcher#lend}, unless all threads that may be held by runs are. */
    private int lend(T ticket) {
        long nanos = inlineRuns.tryBegin();
        if (nanos == 0) {
            return Dispatcher.NONE;
        }
        int lent = Dispatcher.NONE;
        try {
            lent = dispatcher.lend(ticket, nanos);
            return lent;
        } finally {
            if (lent == Dispatcher.NONE) {
                inlineRuns.end();
            }
        }
    }

    /** Runs a ticket on the thread that brings it, by an instance that was lent for that. */
    private void runHere(int instance, T ticket) {
        long ranNanos = 0;
        try {
            ranNanos = threads.get(instance).runElsewhere(List.of(ticket));
        } finally {
            inlineRuns.end();
            ticket.become(Ticket.State.COMPLETED);
            giveBack(instance, ranNanos);
        }
    }

    private void giveBack(int instance, long ranNanos) {
        int woken;
        lock.lock();
        try {
            dispatcher.ran(ranNanos);
            woken = dispatcher.giveBack(instance, System.nanoTime());
        } finally {
            lock.unlock();
        }
        threads.wake(woken);
    }

    @Override
    public boolean withdraw(Ticket ticket) {
        lock.lock();
        try {
            return dispatcher.withdraw(ticket);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void expire(Ticket ticket) {
        lock.lock();
        try {
            dispatcher.expire(ticket);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int pendingCount() {
        return dispatcher.pendingCount();
    }

    @Override
    public boolean isBroken() {
        return threads.isBroken();
    }

    /** The life of an instance's thread: run what it is given, sleep where there is nothing. */
    private void serve(InstanceThread<T> thread) {
        List<T> batch = new ArrayList<>();
        long ranNanos = 0;
        thread.sleep(Dispatcher.FOREVER);
        while (true) {
            long sleepNanos = takeOrRefuse(thread, ranNanos, batch);
            if (sleepNanos == Dispatcher.END) {
                return;
            }
            if (batch.isEmpty()) {
                thread.sleep(sleepNanos);
                ranNanos = 0;
            } else {
                ranNanos = run(thread, batch);
            }
        }
    }

    /** As {@link #take}; a fault ends the tickets that it has taken out of the queue already. */
    private long takeOrRefuse(InstanceThread<T> thread, long ranNanos, List<T> batch) {
        try {
            return take(thread, ranNanos, batch);
        } catch (Throwable t) {
            batch.forEach(Ticket::refuse);
            throw t;
        }
    }

    /** As {@link Dispatcher#take}, after a run that took {@code ranNanos}, or after sleeping when that is 0. */
    private long take(InstanceThread<T> thread, long ranNanos, List<T> batch) {
        long sleepNanos;
        int woken;
        lock.lock();
        try {
            long now = System.nanoTime();
            if (ranNanos > 0) {
                dispatcher.ran(ranNanos);
            }
            sleepNanos = dispatcher.take(thread.ordinal(), now, batch);
            woken = dispatcher.instanceToWake(now);
        } finally {
            lock.unlock();
        }
        threads.wake(woken);
        return sleepNanos;
    }

    /** Runs a batch and ends its tickets; returns how long it ran, in nanoseconds. */
    private long run(InstanceThread<T> thread, List<T> batch) {
        try {
            return thread.run(batch);
        } finally {
            complete(batch);
            batch.clear();
        }
    }

    private void complete(List<T> batch) {
        if (!dispatcher.completesInOrder()) {
            dispatcher.complete(batch);
            return;
        }
        lock.lock();
        try {
            dispatcher.complete(batch);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean exchange(List<? extends Worker<T>> added, List<? extends Worker<T>> removed) {
        if (!threads.exchange(lock, dispatcher, added, removed, () -> lends = mayRunElsewhere(threads.workers()))) {
            return false;
        }
        wakeForWhatWaits();
        return true;
    }

    private void wakeForWhatWaits() {
        int woken;
        lock.lock();
        try {
            woken = dispatcher.instanceToWake(System.nanoTime());
        } finally {
            lock.unlock();
        }
        threads.wake(woken);
    }

    @Override
    public void drain() {
        end(dispatcher::drain);
    }

    @Override
    public boolean close(Duration grace) {
        drain();
        if (threads.join(grace)) {
            return true;
        }
        stop();
        return threads.join(Duration.ZERO);
    }

    private void stop() {
        end(dispatcher::stop);
    }

    private void end(Runnable how) {
        lock.lock();
        try {
            how.run();
        } finally {
            lock.unlock();
        }
        threads.wakeAll();
    }
}
