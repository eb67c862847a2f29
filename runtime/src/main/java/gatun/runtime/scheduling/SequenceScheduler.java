// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Runs the steps of sequences on the threads of a model's instances, each sequence on one of them, as a
 * {@link SequencePolicy} asks for. The decisions are a {@link SequenceDispatcher}'s; this gives it a clock, a lock and
 * threads. Every ticket must {@linkplain Ticket#makeStep belong} to a sequence.
 *
 * @param <T> what is to be run
 */
public final class SequenceScheduler<T extends Ticket> implements Scheduler<T> {
    /** How long the other workers of one that failed to open may still take to open and close. */
    private static final Duration OPENING_GRACE = Duration.ofMinutes(10);

    /** Guards the dispatcher; held for a few steps only. */
    private final ReentrantLock lock = new ReentrantLock();

    private final SequenceDispatcher<T> dispatcher;
    private final InstanceThreads<T> threads;

    private SequenceScheduler(SequencePolicy policy, List<? extends Worker<T>> workers) {
        threads = new InstanceThreads<>(workers, this::serve, this::stop);
        dispatcher = new SequenceDispatcher<>(policy, workers.size(), threads.turns());
    }

    /**
     * Starts a thread for each worker and waits until all have opened. When one fails the others are closed again and
     * its failure is thrown.
     *
     * @param workers at least one
     */
    public static <T extends Ticket> SequenceScheduler<T> open(
            SequencePolicy policy, List<? extends Worker<T>> workers) {
        SequenceScheduler<T> scheduler = new SequenceScheduler<>(policy, workers);
        try {
            scheduler.threads.open();
        } catch (RuntimeException | Error e) {
            scheduler.close(OPENING_GRACE);
            throw e;
        }
        return scheduler;
    }

    @Override
    public Admission submit(T ticket) {
        Admission admission;
        int woken;
        List<Sequence> ended;
        lock.lock();
        try {
            admission = dispatcher.submit(ticket, System.nanoTime());
            woken = dispatcher.instanceToWake();
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        follow(woken, ended);
        return admission;
    }

    /**
     * Follows a decision up, without the lock: closes the sequences that ended, and wakes the instances that have work
     * now.
     */
    private void follow(int firstWoken, List<Sequence> ended) {
        ended.forEach(Sequence::close);
        int woken = firstWoken;
        while (woken != Dispatcher.NONE) {
            threads.get(woken).wake();
            lock.lock();
            try {
                woken = dispatcher.instanceToWake();
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public boolean withdraw(Ticket ticket) {
        boolean withdrawn;
        int woken;
        List<Sequence> ended;
        lock.lock();
        try {
            withdrawn = dispatcher.withdraw(ticket, System.nanoTime());
            woken = dispatcher.instanceToWake();
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        follow(woken, ended);
        return withdrawn;
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
        thread.sleep(Dispatcher.FOREVER);
        while (true) {
            long sleepNanos = takeOrRefuse(thread, batch);
            if (sleepNanos == Dispatcher.END) {
                return;
            }
            if (batch.isEmpty()) {
                thread.sleep(sleepNanos);
            } else {
                run(thread, batch);
            }
        }
    }

    /** As {@link #take}; a fault ends the tickets that it has taken out of the queue already. */
    private long takeOrRefuse(InstanceThread<T> thread, List<T> batch) {
        try {
            return take(thread, batch);
        } catch (Throwable t) {
            batch.forEach(Ticket::refuse);
            throw t;
        }
    }

    private long take(InstanceThread<T> thread, List<T> batch) {
        long sleepNanos;
        int woken;
        List<Sequence> ended;
        lock.lock();
        try {
            sleepNanos = dispatcher.take(thread.ordinal(), System.nanoTime(), batch);
            woken = dispatcher.instanceToWake();
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        follow(woken, ended);
        return sleepNanos;
    }

    /**
     * Runs a batch. The states of sequences that end are given back before those who wait for the last steps are told.
     */
    private void run(InstanceThread<T> thread, List<T> batch) {
        try {
            thread.run(batch);
        } finally {
            finish(batch);
            batch.forEach(Ticket::complete);
            batch.clear();
        }
    }

    private void finish(List<T> batch) {
        int woken;
        List<Sequence> ended;
        lock.lock();
        try {
            dispatcher.finish(batch, System.nanoTime());
            woken = dispatcher.instanceToWake();
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        follow(woken, ended);
    }

    @Override
    public boolean exchange(List<? extends Worker<T>> added, List<? extends Worker<T>> removed) {
        if (!threads.exchange(lock, dispatcher, added, removed, () -> {})) {
            return false;
        }
        int woken;
        List<Sequence> ended;
        lock.lock();
        try {
            woken = dispatcher.instanceToWake();
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        follow(woken, ended);
        return true;
    }

    @Override
    public void drain() {
        List<Sequence> ended;
        lock.lock();
        try {
            dispatcher.drain(System.nanoTime());
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        ended.forEach(Sequence::close);
        threads.wakeAll();
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
        List<Sequence> ended;
        lock.lock();
        try {
            dispatcher.stop(System.nanoTime());
            ended = dispatcher.takeEnded();
        } finally {
            lock.unlock();
        }
        ended.forEach(Sequence::close);
        threads.wakeAll();
    }
}
