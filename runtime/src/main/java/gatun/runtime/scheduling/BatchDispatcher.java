// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.placement.RunPlacement;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import gatun.runtime.scheduling.Dispatcher.Admission;
import gatun.runtime.scheduling.InlineExecutor.InstanceOffers;
import gatun.runtime.scheduling.InstanceStates.Activity;
import gatun.runtime.scheduling.PendingRequest.State;
import gatun.spi.Tuning;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The decisions for requests that stand alone: they run in the order of their turn, in batches by a {@link
 * BatchPolicy}. Instances fetch requests ({@link #take}); a submitted request wakes one at most ({@link
 * #instanceToWake}).
 *
 * <p>Waking a thread costs more than a short run, so an idle instance sleeps on while, by the average of past runs,
 * those that run come to the new request sooner. As runs vary, one idle instance, the watcher, wakes from time to time,
 * helps out, and times batches that wait. A batch is kept for callers expected to ask again ({@link AdaptiveBatchDelay}).
 *
 * <p>An instance whose {@linkplain RunPermits turn} has not come takes nothing: its requests stay in the queue and may
 * go to another. It gives its turn up when nothing waits any more.
 */
final class BatchDispatcher<T extends PendingRequest> implements Dispatcher<T> {
    private final PendingQueue<T> queue;
    private BatchPolicy policy;
    private AdaptiveBatchDelay gathering;
    private BatchCandidates<T> candidates;
    private final InstanceStates instances;
    private final RunPermits turns;
    private final RunPlacement placement;
    private final RunTimeEstimator runTimes = new RunTimeEstimator(RunPlacement.WAKING_NANOS);
    private boolean stopping;

    /** Null where requests need not end in order. */
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
        queue = new PendingQueue<>(policy.capacities(), policy.capacitiesCountSizes());
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
    public Admission submit(T request, long now) {
        if (stopping) {
            return Admission.STOPPING;
        }
        if (queue.isFull(request)) {
            return Admission.QUEUE_FULL;
        }
        request.submittedNanos = now;
        queue.add(request);
        if (order != null) {
            order.add(request);
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

    /** Whether the instances that are awake do not keep up; false while a batch waits for more requests. */
    private boolean hasWaitedLong(long now) {
        T oldest = queue.first();
        return oldest != null
                && (policy.maxQueueDelayNanos() > 0 || placement.hasWaitedLong(now - oldest.submittedNanos));
    }

    @Override
    public void recordRun(int instance, long nanos, int waiting, long now) {
        runTimes.record(nanos);
        gathering.ended(instance, runTimes.typicalNanos(), waiting, now);
    }

    boolean lends() {
        return placement.lendsInstances(order != null, policy.maxQueueDelayNanos());
    }

    /** Whether an idle instance may be lent to the thread that brings {@code request}, which need not wait its turn. */
    boolean mayLend(T request) {
        return instances.anyIdle()
                && !stopping
                && lends()
                && placement.mayBorrow(runTimes, policy.maxBatchSize() > 0, instances.allIdle(), gathering.hasCompany())
                && !gathering.expectsMoreThan(request.size());
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

    /** Notes some runs of requests that were alone, by how long they took together. */
    void ranAlone(int runs, long nanos) {
        runTimes.record(runs, nanos);
    }

    long typicalRunNanos() {
        return runTimes.typicalNanos();
    }

    /** Lends an idle instance, if it {@linkplain #mayLend may}, to the thread of {@code request}, marked as running. */
    int lend(T request) {
        request.become(State.RUNNING);
        int instance = instances.lend();
        gathering.begun(instance, request.size(), 1);
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
            T request = queue.first();
            if (request == null) {
                throw new AssertionError("a request of an attempt is gone");
            }
            queue.remove(request);
            request.become(State.RUNNING);
            batch.add(request);
            size += request.size();
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
    public boolean withdraw(PendingRequest request, long now) {
        if (!queue.remove(request)) {
            return false;
        }
        request.become(State.WITHDRAWN);
        forget(request);
        return true;
    }

    @Override
    public void expire(PendingRequest request) {
        if (request.delayedAtDeadline()) {
            queue.delay(request);
        } else if (queue.remove(request)) {
            request.expire();
            forget(request);
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

    private void forget(PendingRequest request) {
        if (order != null) {
            order.remove(request);
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
        for (T request = queue.first(); request != null; request = queue.first()) {
            queue.remove(request);
            request.refuse();
            forget(request);
        }
    }
}
