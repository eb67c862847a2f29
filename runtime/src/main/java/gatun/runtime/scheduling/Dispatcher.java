// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.scheduling.InstanceStates.Activity;
import gatun.runtime.scheduling.Ticket.State;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The decisions of a scheduler, without threads, locks or a clock: who waits, which instances are idle, what runs
 * next and who is to be woken for it. Instances are numbers from 0; times are readings of {@link System#nanoTime}, or
 * of any other clock that all calls agree on. All instances are idle at first.
 *
 * <p>Instances come and fetch ({@link #take}); a ticket that is submitted at most has one of them woken
 * ({@link #instanceToWake}). Waking a thread costs more than a short run. So an idle instance is left alone while those
 * that run will come to the new ticket sooner than it could: the average of past runs says so. Runs are not always like
 * the past; one idle instance, the watcher, therefore wakes by itself from time to time and helps out. It also keeps
 * the time for a batch that waits for more tickets.
 *
 * <p>An instance whose {@linkplain RunPermits turn} has not come takes nothing. What it would have run stays in the
 * queue, with all that follows from that, and may go to another instance; when nothing waits any more it gives its turn
 * up.
 *
 * @param <T> what is to be run
 */
final class Dispatcher<T extends Ticket> implements InstanceSet {
    /** No instance. */
    static final int NONE = -1;

    /** {@link #take}: sleep until woken. */
    static final long FOREVER = Long.MAX_VALUE;

    /** {@link #take}: there is nothing to run and never will be. */
    static final long END = -1;

    /**
     * About the time that it takes to wake a thread on another core, in a virtual machine; on bare metal it is less.
     */
    static final long WAKING_NANOS = 20_000;

    /** How often a watcher looks at the queue: the longest that a ticket waits in spite of an idle instance. */
    static final long WATCH_NANOS = 1_000_000;

    /** A ticket that waits longer than this does not wait behind short runs. */
    private static final long LONG_WAIT_NANOS = 100_000;

    private final BatchPolicy policy;
    private final TicketQueue<T> queue;
    private final InstanceStates instances;
    private final RunPermits turns;
    private final RunTimes runTimes = new RunTimes(WAKING_NANOS);

    private boolean stopping;

    /** Accepted tickets that have not come to an end, where they must end in order. */
    private final @Nullable Set<Ticket> order;

    // The result of the last attempt to form a batch.
    private final int[] sizes;
    private long waitNanos;

    Dispatcher(BatchPolicy policy, int instanceCount, RunPermits turns) {
        this.policy = policy;
        this.turns = turns;
        queue = new TicketQueue<>(policy.levels(), policy.levelsCountSizes());
        instances = new InstanceStates(instanceCount);
        sizes = new int[policy.maxBatchSize() + 1];
        order = policy.preserveOrdering() ? new LinkedHashSet<>() : null;
    }

    /** How many tickets wait. May be called by anybody. */
    int pendingCount() {
        return queue.size();
    }

    /** Takes a ticket in, or refuses it. When it is accepted {@link #instanceToWake} is to be asked. */
    Admission submit(T ticket, long now) {
        if (stopping) {
            return Admission.STOPPING;
        }
        if (queue.isFull(ticket)) {
            return Admission.QUEUE_FULL;
        }
        ticket.submittedNanos = now;
        queue.add(ticket);
        if (order != null) {
            order.add(ticket);
        }
        return Admission.ACCEPTED;
    }

    /** Which idle instance to wake because of what waits; it counts as woken from now on. Mostly {@link #NONE}. */
    int instanceToWake(long now) {
        // Once the scheduler stops all are awake until they end.
        if (stopping || !instances.anyIdle() || queue.size() == 0) {
            return NONE;
        }
        int count = attempt(now, false);
        if (count == 0) {
            return NONE;
        }
        int sent = decision(count);
        if (sent != BatchDecision.WAIT) {
            if (isWakingDearer()) {
                return NONE;
            }
            promise(sent);
            if (instances.anyComingToWatch()) {
                instances.redirectWatcher();
                return NONE;
            }
            return instances.wakeOne();
        }
        if (instances.anyComingToWatch() || instances.isWatchedWithin(waitNanos, now)) {
            return NONE;
        }
        return instances.wakeWatcher();
    }

    /** Whether the instances that are awake will have come to what waits before an idle one could be awake. */
    private boolean isWakingDearer() {
        int batches = 1 + (queue.size() - 1) / Math.max(1, policy.maxBatchSize());
        return instances.isWatched() && runTimes.typicalNanos() * batches < WAKING_NANOS * instances.awakeCount();
    }

    /**
     * Whether the instances that are awake do not keep up after all; a batch that waits for more tickets is none of
     * their business.
     */
    private boolean hasWaitedLong(long now) {
        T oldest = queue.first();
        return oldest != null && (policy.maxQueueDelayNanos() > 0 || now - oldest.submittedNanos > LONG_WAIT_NANOS);
    }

    /** Notes how long the instance's run took. */
    void ran(long nanos) {
        runTimes.ran(nanos);
    }

    /**
     * Lends an idle instance to the thread that brings {@code ticket}, which is marked as running and is not to be
     * submitted; {@link #NONE} where it must wait its turn, or where a run may take longer than {@code nanos}.
     */
    int lend(T ticket, long nanos) {
        if (!instances.anyIdle() || stopping || !mayBeLent(nanos)) {
            return NONE;
        }
        ticket.become(State.RUNNING);
        return instances.lend();
    }

    private boolean mayBeLent(long nanos) {
        if (order != null || policy.maxQueueDelayNanos() > 0 || !runTimes.areWithin(nanos)) {
            return false;
        }
        // While others run, those who come now may share a batch.
        return policy.maxBatchSize() == 0 || instances.allIdle();
    }

    /** Takes a lent instance back; returns an instance to wake, or {@link #NONE}. */
    int giveBack(int instance, long now) {
        if (!instances.giveBack(instance)) {
            return instance; // to end
        }
        if (stopping) {
            instances.wake(instance);
            return instance;
        }
        return instanceToWake(now);
    }

    /**
     * Decides what an instance that is awake does now. It runs the tickets that this puts into {@code batch}, which are
     * marked as running. When there are none, it sleeps for the nanoseconds that this returns, which may be
     * {@link #FOREVER}, or until it is woken, and asks again; it ends when this returns {@link #END}. Afterwards
     * {@link #instanceToWake} is to be asked.
     */
    long take(int instance, long now, List<T> batch) {
        Activity before = instances.of(instance);
        switch (before) {
            case LENT, LENT_LAST -> {
                return FOREVER; // It woke by itself, as the watcher that it was before.
            }
            case LEAVING, ENDED -> {
                instances.end(instance);
                return END;
            }
            case OPENING -> {
                if (!stopping) {
                    return FOREVER;
                }
            }
            case IDLE, WAKING, STALLED, RUNNING -> {}
        }
        // An idle one woke by itself, as the watcher.
        boolean needed = before != Activity.IDLE || stopping || !isWakingDearer() || hasWaitedLong(now);
        instances.arrive(instance);
        if (!needed) {
            instances.rest(instance);
            return sleep(instance, now, false);
        }
        int count = queue.size() == 0 ? 0 : attempt(now, true);
        int sent = count == 0 ? BatchDecision.WAIT : decision(count);
        if (sent == BatchDecision.WAIT) {
            keepPromises();
            if (before == Activity.STALLED) {
                turns.decline(instance);
            }
            if (stopping) {
                return END;
            }
            instances.rest(instance);
            return sleep(instance, now, count > 0);
        }
        if (!turns.ask(instance)) {
            keepPromises();
            instances.stall(instance);
            return FOREVER;
        }
        for (int i = 0; i < sent; i++) {
            T ticket = queue.first();
            if (ticket == null) {
                throw new AssertionError("a ticket of an attempt is gone");
            }
            queue.remove(ticket);
            ticket.become(State.RUNNING);
            batch.add(ticket);
        }
        keepPromises();
        dismissStalled();
        return 0;
    }

    /**
     * Has the instances that wait for their turns wait no more when there is nothing to run: others behind them may
     * need the same.
     */
    private void dismissStalled() {
        if (queue.size() > 0 || stopping) {
            return; // Once the scheduler stops each ends by itself, when its turn has come.
        }
        for (int stalled = instances.anyStalled(); stalled != NONE; stalled = instances.anyStalled()) {
            turns.decline(stalled);
            instances.arrive(stalled);
            instances.rest(stalled);
        }
    }

    private void keepPromises() {
        if (!instances.anyComing()) {
            queue.breakPromises();
        }
    }

    /** How long an instance that is idle sleeps at most. */
    private long sleep(int instance, long now, boolean batchWaits) {
        long nanos = FOREVER;
        if (batchWaits) {
            nanos = waitNanos;
        } else if (instances.awakeCount() > 0) {
            nanos = WATCH_NANOS;
        }
        if (nanos == FOREVER || instances.isWatchedWithin(nanos, now)) {
            return FOREVER;
        }
        instances.watch(instance, nanos, now);
        return nanos;
    }

    /**
     * Looks at the tickets whose turn it is, as many as a batch can have, and writes down their sizes. Tickets whose
     * time to wait is over come to their end, or are put back, on the way. Returns how many there are; negative when a
     * ticket follows that cannot join them.
     *
     * @param promised whether to look also at those for which an instance is on its way
     */
    private int attempt(long now, boolean promised) {
        int count = 0;
        int total = 0;
        T first = null;
        T seen = null;
        long oldest = now;
        for (T ticket = queue.first(); ticket != null; ticket = seen == null ? queue.first() : queue.after(seen)) {
            if (ticket.isOverdue(now)) {
                expire(ticket);
                continue;
            }
            seen = ticket;
            if (ticket.promised && !promised) {
                continue;
            }
            if (first == null) {
                first = ticket;
            } else if (!ticket.joins(first)) {
                count = -count;
                break;
            }
            total += ticket.size();
            oldest = Math.min(oldest, ticket.submittedNanos);
            sizes[count++] = ticket.size();
            if (total >= policy.maxBatchSize()) {
                break;
            }
        }
        waitNanos = policy.maxQueueDelayNanos() - (now - oldest);
        return count;
    }

    /** How many of the tickets of the last attempt to send. */
    private int decision(int count) {
        if (policy.maxBatchSize() == 0) {
            return 1;
        }
        // Nobody joins any more once the scheduler stops: what waits goes as it is.
        boolean blocked = count < 0 || stopping;
        return BatchDecision.decide(policy, sizes, Math.abs(count), blocked, policy.maxQueueDelayNanos() - waitNanos);
    }

    /** Notes that an instance comes for the first {@code count} tickets for which none did yet. */
    private void promise(int count) {
        int left = count;
        for (T ticket = queue.first(); ticket != null && left > 0; ticket = queue.after(ticket)) {
            if (!ticket.promised) {
                queue.promise(ticket);
                left--;
            }
        }
    }

    /** Takes a ticket out that still waits; false when it does not. */
    boolean withdraw(Ticket ticket) {
        if (!queue.remove(ticket)) {
            return false;
        }
        ticket.become(State.WITHDRAWN);
        forget(ticket);
        return true;
    }

    /**
     * Ends a ticket that still waits, though its time is over, or puts it back, as it wants; any other is left alone.
     */
    void expire(Ticket ticket) {
        if (ticket.delayedAtDeadline()) {
            queue.delay(ticket);
        } else if (queue.remove(ticket)) {
            ticket.expire();
            forget(ticket);
        }
    }

    /** Ends the tickets of a batch that has run, and others that waited only for them. */
    void complete(List<T> batch) {
        if (order == null) {
            batch.forEach(Ticket::complete);
            return;
        }
        batch.forEach(Ticket::finish);
        releaseInOrder(order);
    }

    /** Whether {@link #complete} needs the protection of the other methods. */
    boolean completesInOrder() {
        return order != null;
    }

    private void forget(Ticket ticket) {
        // Those that came later wait too, so that none of them has run and waits only for this one.
        if (order != null) {
            order.remove(ticket);
        }
        dismissStalled();
    }

    private static void releaseInOrder(Set<Ticket> waiting) {
        Iterator<Ticket> tickets = waiting.iterator();
        while (tickets.hasNext()) {
            Ticket next = tickets.next();
            if (!next.isFinished()) {
                return;
            }
            tickets.remove();
            next.complete();
        }
    }

    @Override
    public int reserve() {
        return stopping ? NONE : instances.reserve();
    }

    @Override
    public void admit(int instance, long now) {
        if (!stopping) {
            instances.admit(instance);
        }
    }

    @Override
    public void retire(int instance, long now) {
        if (stopping) {
            return; // All end, when nothing waits any more.
        }
        switch (instances.of(instance)) {
            case WAKING -> queue.breakPromises();
            case STALLED -> turns.decline(instance);
            case OPENING, IDLE, RUNNING, LENT, LENT_LAST, LEAVING, ENDED -> {}
        }
        instances.retire(instance);
    }

    /**
     * Takes no more tickets. Those that wait still run, without waiting for others to share their batch. All idle
     * instances are then to be woken; each ends when nothing waits.
     */
    void drain() {
        stopping = true;
    }

    /** Takes no more tickets and refuses those that wait. All idle instances are then to be woken; they will end. */
    void stop() {
        stopping = true;
        for (T ticket = queue.first(); ticket != null; ticket = queue.first()) {
            queue.remove(ticket);
            ticket.refuse();
            forget(ticket);
        }
    }
}
