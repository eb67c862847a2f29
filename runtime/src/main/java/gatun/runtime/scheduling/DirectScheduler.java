package gatun.runtime.scheduling;

import gatun.runtime.scheduling.Ticket.State;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Runs each ticket alone, first in, first out, on the first free instance. A ticket that finds an idle instance is handed
 * to its thread without passing the queue; a thread that ends a ticket takes the next one itself.
 *
 * <p>Waking a thread costs more than a short run. So an idle one is left alone while those that run will come to the new
 * ticket sooner than it could: the average of past runs says so. Runs are not always like the past; one idle thread
 * therefore watches the queue meanwhile and helps out within a millisecond.
 *
 * @param <T> what is to be run
 */
public final class DirectScheduler<T extends Ticket> implements Scheduler<T> {
    /** How long the other workers of one that failed to open may still take to open and close. */
    private static final Duration OPENING_GRACE = Duration.ofMinutes(10);

    /** About what it takes to wake a thread on another core, in a virtual machine; on bare metal it is less. */
    private static final long WAKING_NANOS = 20_000;

    /** How often a watching thread looks at the queue: the longest that a ticket waits in spite of an idle instance. */
    private static final long WATCH_NANOS = 1_000_000;

    private static final long FOREVER = 0;

    /** The weight of one run in the average, as a power of two: 1/8. */
    private static final int TYPICAL_SHIFT = 3;

    /** Guards the queue, the stack of idle threads and {@link #stopping}; held for a few steps only. */
    private final ReentrantLock lock = new ReentrantLock();

    private final TicketQueue<T> queue;
    private final List<InstanceThread<T>> threads;

    /** Threads without a ticket; the last one became idle last, and its caches are warmest. Guarded by lock. */
    private final ArrayDeque<InstanceThread<T>> idle;

    /** How many threads run a ticket or are about to; guarded by lock. */
    private int running;

    /** A moving average of how long a run takes; guarded by lock. */
    private long typicalNanos = WAKING_NANOS;

    /** Whether one of the idle threads watches; guarded by lock. */
    private boolean watching;

    private boolean stopping; // guarded by lock

    private DirectScheduler(int queueCapacity, List<? extends Worker<T>> workers) {
        queue = new TicketQueue<>(queueCapacity);
        threads = new ArrayList<>(workers.size());
        idle = new ArrayDeque<>(workers.size() + 1);
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
            idle.addAll(threads);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Admission submit(T ticket) {
        InstanceThread<T> free;
        T oldest;
        lock.lock();
        try {
            if (stopping) {
                return Admission.STOPPING;
            }
            if (idle.isEmpty()) {
                return queue.add(ticket) ? Admission.ACCEPTED : Admission.QUEUE_FULL;
            }
            if (isWakingDearer() && queue.add(ticket)) {
                return Admission.ACCEPTED;
            }
            oldest = inTurn(ticket);
            free = idle.removeLast();
            begin(free, oldest);
        } finally {
            lock.unlock();
        }
        free.hand(oldest);
        return Admission.ACCEPTED;
    }

    /** Whether the threads that run will have come to one more ticket before an idle one could be awake. */
    private boolean isWakingDearer() {
        return watching && typicalNanos * (queue.size() + 1) < WAKING_NANOS * running;
    }

    /** The ticket whose turn it is: {@code ticket}, or one that came before it, behind which it then waits. */
    private T inTurn(T ticket) {
        T oldest = queue.poll();
        if (oldest == null) {
            return ticket;
        }
        queue.add(ticket); // there is room for it since the other left
        return oldest;
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
        T ticket = awaitTicket(thread);
        while (ticket != null) {
            long nanos = thread.run(ticket);
            ticket = next(thread, nanos);
            if (ticket == null) {
                ticket = awaitTicket(thread);
            }
        }
    }

    /** Waits, idle, for a ticket that is marked as running; null when the thread is to end. */
    private @Nullable T awaitTicket(InstanceThread<T> thread) {
        while (true) {
            T ticket = thread.awaitHanded(thread.watches ? WATCH_NANOS : FOREVER);
            if (ticket == null && !thread.isEnding()) {
                ticket = look(thread);
            }
            if (ticket != null || thread.isEnding()) {
                return ticket;
            }
        }
    }

    /** What a watching thread does from time to time: helps out if something waits after all, sleeps deeply if nothing runs. */
    private @Nullable T look(InstanceThread<T> thread) {
        lock.lock();
        try {
            if (!thread.watches) {
                return null; // being handed a ticket at this moment
            }
            T oldest = queue.poll();
            if (oldest != null) {
                idle.remove(thread);
                begin(thread, oldest);
            } else if (running == 0) {
                thread.watches = false;
                watching = false;
            }
            return oldest;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The oldest waiting ticket, marked as running; null when there is none, and then {@code thread} is idle or ends.
     *
     * @param nanos how long the thread's last run took
     */
    private @Nullable T next(InstanceThread<T> thread, long nanos) {
        lock.lock();
        try {
            running--;
            typicalNanos += (nanos - typicalNanos) >> TYPICAL_SHIFT;
            T oldest = queue.poll();
            if (oldest != null) {
                begin(thread, oldest);
            } else if (stopping) {
                thread.end();
            } else {
                thread.watches = running > 0 && !watching;
                watching |= thread.watches;
                idle.addLast(thread);
            }
            return oldest;
        } finally {
            lock.unlock();
        }
    }

    /** Notes that {@code thread}, which is not idle any more, runs {@code ticket}. */
    private void begin(InstanceThread<T> thread, T ticket) {
        assert lock.isHeldByCurrentThread();
        if (thread.watches) {
            thread.watches = false;
            watching = false;
        }
        running++;
        ticket.become(State.RUNNING);
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
            idle.forEach(InstanceThread::end);
            idle.clear();
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
