package gatun.runtime.scheduling;

import gatun.runtime.scheduling.Ticket.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Runs each ticket alone, first in, first out, on the first free instance. A ticket that finds an idle instance is handed
 * to its thread without passing the queue; a thread that ends a ticket takes the next one itself.
 *
 * @param <T> what is to be run
 */
public final class DirectScheduler<T extends Ticket> implements Scheduler<T> {
    /** How long the other workers of one that failed to open may still take to open and close. */
    private static final Duration OPENING_GRACE = Duration.ofMinutes(10);

    /** Guards the queue, the stack of idle threads and {@link #stopping}; held for a few steps only. */
    private final ReentrantLock lock = new ReentrantLock();

    private final TicketQueue<T> queue;
    private final List<InstanceThread<T>> threads;

    /** The thread that became idle last, whose caches are warmest; guarded by lock. */
    private @Nullable InstanceThread<T> idle;

    private boolean stopping; // guarded by lock

    private DirectScheduler(int queueCapacity, List<? extends Worker<T>> workers) {
        queue = new TicketQueue<>(queueCapacity);
        threads = new ArrayList<>(workers.size());
        for (Worker<T> worker : workers) {
            threads.add(new InstanceThread<>(worker, this::serve));
        }
    }

    /**
     * Starts a thread for each worker and waits until all have opened. When one fails the others are closed again and its
     * failure is thrown.
     *
     * @param queueCapacity how many tickets may wait for an instance
     */
    public static <T extends Ticket> DirectScheduler<T> open(int queueCapacity, List<? extends Worker<T>> workers) {
        DirectScheduler<T> scheduler = new DirectScheduler<>(queueCapacity, workers);
        scheduler.threads.forEach(InstanceThread::start);
        try {
            scheduler.threads.forEach(InstanceThread::awaitOpen);
        } catch (RuntimeException | Error e) {
            scheduler.threads.forEach(InstanceThread::end);
            scheduler.close(OPENING_GRACE);
            throw e;
        }
        scheduler.begin();
        return scheduler;
    }

    /** Declares all threads idle, which is how they start. */
    private void begin() {
        lock.lock();
        try {
            threads.forEach(this::becomeIdle);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Admission submit(T ticket) {
        InstanceThread<T> free;
        lock.lock();
        try {
            if (stopping) {
                return Admission.STOPPING;
            }
            free = idle;
            if (free == null) {
                return queue.add(ticket) ? Admission.ACCEPTED : Admission.QUEUE_FULL;
            }
            idle = free.idleBelow;
            ticket.become(State.RUNNING);
        } finally {
            lock.unlock();
        }
        free.hand(ticket);
        return Admission.ACCEPTED;
    }

    @Override
    public boolean withdraw(Ticket ticket) {
        lock.lock();
        try {
            if (!queue.remove(ticket)) {
                return false;
            }
            ticket.become(State.WITHDRAWN);
            return true;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int pendingCount() {
        return queue.size();
    }

    /** The life of an instance's thread: run what is handed to it, then what waits, then be idle again. */
    private void serve(InstanceThread<T> thread) {
        T ticket = thread.awaitHanded();
        while (ticket != null) {
            thread.run(ticket);
            ticket = next(thread);
            if (ticket == null) {
                ticket = thread.awaitHanded();
            }
        }
    }

    /** The oldest waiting ticket, marked as running; null when there is none, and then {@code thread} is idle or ends. */
    private @Nullable T next(InstanceThread<T> thread) {
        lock.lock();
        try {
            T oldest = queue.poll();
            if (oldest != null) {
                oldest.become(State.RUNNING);
            } else if (stopping) {
                thread.end();
            } else {
                becomeIdle(thread);
            }
            return oldest;
        } finally {
            lock.unlock();
        }
    }

    private void becomeIdle(InstanceThread<T> thread) {
        assert lock.isHeldByCurrentThread();
        thread.idleBelow = idle;
        idle = thread;
    }

    @Override
    public boolean close(Duration grace) {
        lock.lock();
        try {
            stopping = true;
            for (T waiting = queue.poll(); waiting != null; waiting = queue.poll()) {
                waiting.refuse();
            }
            // A thread that is not idle finds out when it next looks for work; it may be about to be handed a ticket.
            for (; idle != null; idle = idle.idleBelow) {
                idle.end();
            }
        } finally {
            lock.unlock();
        }
        long deadline = System.nanoTime() + grace.toNanos();
        boolean ended = true;
        for (InstanceThread<T> thread : threads) {
            ended &= thread.join(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
        }
        return ended;
    }
}
