// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.placement.RunPlacement;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import gatun.runtime.scheduling.Dispatcher.Admission;
import gatun.runtime.scheduling.InlineExecutor.InstanceOffers;
import gatun.runtime.scheduling.InstanceStates.Activity;
import gatun.runtime.scheduling.Ticket.State;
import gatun.spi.Tuning;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The decisions for tickets that stand alone: they run in the order of their turn, in batches by a {@link BatchPolicy}.
 * Instances fetch tickets ({@link #take}); a submitted ticket wakes one at most ({@link #instanceToWake}).
 *
 * <p>Waking a thread costs more than a short run, so an idle instance sleeps on while, by the average of past runs,
 * those that run come to the new ticket sooner. As runs vary, one idle instance, the watcher, wakes from time to time,
 * helps out, and times batches that wait. A batch is kept for callers expected to ask again ({@link AdaptiveBatchDelay}).
 *
 * <p>An instance whose {@linkplain RunPermits turn} has not come takes nothing: its tickets stay in the queue and may
 * go to another. It gives its turn up when nothing waits any more.
 */
final class BatchDispatcher<T extends Ticket> implements Dispatcher<T> {
    private final TicketQueue<T> queue;
    private BatchPolicy policy;
    private AdaptiveBatchDelay gathering;
    private BatchCandidates<T> candidates;
    private final InstanceStates instances;
    private final RunPermits turns;
    private final RunPlacement placement;
    private final RunTimeEstimator runTimes = new RunTimeEstimator(RunPlacement.WAKING_NANOS);
    private boolean stopping;

    /** Null where tickets need not end in order. */
    private final @Nullable CompletionOrder order;

    BatchDispatcher(
            BatchPolicy policy,
            int instanceCount,
            RunPermits turns,
            RunPlacement placement,
            AdaptiveBatchDelay gathering) {
        this.placement = placement;
        this.policy = policy;
        this.turns = turns;
        this.gathering = gathering;
        queue = new TicketQueue<>(policy.capacities(), policy.capacitiesCountSizes());
        candidates = new BatchCandidates<>(policy, queue, gathering, this::expire);
        instances = new InstanceStates(instanceCount);
        order = policy.preserveOrdering() ? new CompletionOrder() : null;
    }

    @Override
    public void runAlone() {
        policy = policy.alone();
        gathering = new AdaptiveBatchDelay(policy, Tuning.OFF);
        candidates = new BatchCandidates<>(policy, queue, gathering, this::expire);
    }

    @Override
    public int pendingCount() {
        return queue.size();
    }

    @Override
    public int busyCount() {
        return instances.busyCount();
    }

    @Override
    public Admission submit(T ticket, long now) {
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

    @Override
    public int instanceToWake(long now) {
        // Once the scheduler stops all are awake until they end.
        if (stopping || !instances.anyIdle() || queue.size() == 0) {
            return NONE;
        }
        int sent = candidates.form(false, false, now);
        if (sent != BatchDecision.WAIT) {
            if (isWakingDearer()) {
                return NONE;
            }
            queue.promiseFirst(sent);
            if (instances.anyComingToWatch()) {
                instances.redirectWatcher();
                return NONE;
            }
            return instances.wakeOne();
        }
        long waitNanos = candidates.waitNanos();
        if (waitNanos == FOREVER || instances.anyComingToWatch() || instances.isWatchedWithin(waitNanos, now)) {
            return NONE;
        }
        return instances.wakeWatcher();
    }

    /** Whether what waits is left to the instances that are awake. */
    private boolean isWakingDearer() {
        int batches = 1 + (queue.size() - 1) / Math.max(1, policy.maxBatchSize());
        return placement.isWakingDearer(runTimes, batches, instances.awakeCount(), instances.isWatched());
    }

    /** Whether the instances that are awake do not keep up; false while a batch waits for more tickets. */
    private boolean hasWaitedLong(long now) {
        T oldest = queue.first();
        return oldest != null
                && (policy.maxQueueDelayNanos() > 0 || placement.hasWaitedLong(now - oldest.submittedNanos));
    }

    @Override
    public void ran(int instance, long nanos, int waiting, long now) {
        runTimes.record(nanos);
        gathering.ended(instance, runTimes.typicalNanos(), waiting, now);
    }

    boolean lends() {
        return placement.lendsInstances(order != null, policy.maxQueueDelayNanos());
    }

    /** Whether an idle instance may be lent to the thread that brings {@code ticket}, which need not wait its turn. */
    boolean mayLend(T ticket) {
        return instances.anyIdle()
                && !stopping
                && lends()
                && placement.mayBorrow(runTimes, policy.maxBatchSize() > 0, instances.allIdle(), gathering.hasCompany())
                && !gathering.expectsMoreThan(ticket.size());
    }

    /** Whether request threads may take idle instances without asking: nothing waits, and all would be lent one. */
    boolean mayOffer() {
        return !stopping
                && queue.size() == 0
                && policy.maxBatchSize() == 0
                && lends()
                && placement.mayBorrow(runTimes, false, true, false);
    }

    /** Puts the idle instances on offer, where that {@linkplain #mayOffer may be}, until they are recalled. */
    void offer(InstanceOffers offers) {
        instances.offer(offers);
    }

    /** Notes an instance that was on offer and is with a request thread now. */
    void noteLent(int instance) {
        instances.lend(instance);
    }

    /** Notes some runs of tickets that were alone, by how long they took together. */
    void ranAlone(int runs, long nanos) {
        runTimes.record(runs, nanos);
    }

    long typicalRunNanos() {
        return runTimes.typicalNanos();
    }

    /** Lends an idle instance, if it {@linkplain #mayLend may}, to the thread of {@code ticket}, marked as running. */
    int lend(T ticket) {
        ticket.become(State.RUNNING);
        int instance = instances.lend();
        gathering.begun(instance, ticket.size(), 1);
        return instance;
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

    @Override
    public long take(int instance, long now, List<T> batch) {
        Activity before = instances.of(instance);
        switch (before) {
            case LENT, LENT_LAST -> {
                return FOREVER; // It woke by itself, as the watcher that it was before.
            }
            case LEAVING, ENDED -> {
                turns.decline(instance);
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
            return sleep(instance, FOREVER, now);
        }
        int sent = candidates.form(stopping, true, now);
        if (sent == BatchDecision.WAIT) {
            keepPromises();
            if (before == Activity.STALLED || before == Activity.RUNNING) {
                turns.decline(instance);
            }
            if (stopping) {
                return END;
            }
            instances.rest(instance);
            return sleep(instance, candidates.waitNanos(), now);
        }
        if (!turns.ask(instance)) {
            keepPromises();
            instances.stall(instance);
            return FOREVER;
        }
        int size = 0;
        for (int i = 0; i < sent; i++) {
            T ticket = queue.first();
            if (ticket == null) {
                throw new AssertionError("a ticket of an attempt is gone");
            }
            queue.remove(ticket);
            ticket.become(State.RUNNING);
            batch.add(ticket);
            size += ticket.size();
        }
        gathering.begun(instance, size, sent);
        keepPromises();
        dismissStalled();
        return 0;
    }

    /** Ends waits for turns when there is nothing to run: others behind may need the same resources. */
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

    /** Nanoseconds that an idle instance sleeps at most; {@code waitNanos} is how long a batch waits. */
    private long sleep(int instance, long waitNanos, long now) {
        long nanos = waitNanos == FOREVER && instances.awakeCount() > 0 ? RunPlacement.WATCH_NANOS : waitNanos;
        if (nanos == FOREVER || instances.isWatchedWithin(nanos, now)) {
            return FOREVER;
        }
        instances.watch(instance, nanos, now);
        return nanos;
    }

    @Override
    public boolean withdraw(Ticket ticket, long now) {
        if (!queue.remove(ticket)) {
            return false;
        }
        ticket.become(State.WITHDRAWN);
        forget(ticket);
        return true;
    }

    @Override
    public void expire(Ticket ticket) {
        if (ticket.delayedAtDeadline()) {
            queue.delay(ticket);
        } else if (queue.remove(ticket)) {
            ticket.expire();
            forget(ticket);
        }
    }

    @Override
    public boolean followsRuns() {
        return order != null;
    }

    @Override
    public void finish(List<T> batch, long now) {
        if (order != null) {
            order.finish(batch);
            batch.clear();
        }
    }

    private void forget(Ticket ticket) {
        if (order != null) {
            order.remove(ticket);
        }
        dismissStalled();
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

    /** {@inheritDoc} They do not wait for others to share their batch. */
    @Override
    public void drain(long now) {
        stopping = true;
    }

    @Override
    public void stop(long now) {
        stopping = true;
        for (T ticket = queue.first(); ticket != null; ticket = queue.first()) {
            queue.remove(ticket);
            ticket.refuse();
            forget(ticket);
        }
    }
}
