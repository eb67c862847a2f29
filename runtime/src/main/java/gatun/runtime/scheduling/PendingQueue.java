// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import gatun.runtime.scheduling.PendingRequest.State;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The requests that wait, by priority level and within it first in, first out, overdue ones that were put back behind
 * the others. Removal is free. A level exists while requests wait in it: a new one in each request costs a search and
 * no memory. Guarded by the scheduler's lock, but for {@link #size()}.
 */
final class PendingQueue<T extends PendingRequest> {
    /** The most levels at a time: each has its own capacity, and clients name them. */
    static final int LEVEL_LIMIT = 1000;

    private final QueueCapacities capacities;
    private final boolean countsSizes;

    /** The levels in which requests wait, the most urgent first. An empty queue keeps the level of the last. */
    private final TreeMap<Long, PriorityLevel> levels = new TreeMap<>(Long::compareUnsigned);

    private volatile int size;
    private int promised;

    /** An empty queue. {@code countsSizes} says whether the capacities are about the requests' sizes. */
    PendingQueue(QueueCapacities capacities, boolean countsSizes) {
        this.capacities = capacities;
        this.countsSizes = countsSizes;
    }

    int size() {
        return size;
    }

    /** How many levels take memory now. */
    int levelCount() {
        return levels.size();
    }

    /** Whether the level of {@code request} takes no more. */
    boolean isFull(T request) {
        PriorityLevel level = levels.get(request.level());
        if (level == null && levels.size() >= LEVEL_LIMIT) {
            return true;
        }
        return weight(request) > capacities.of(request.level()) - (level == null ? 0 : level.load);
    }

    void add(T request) {
        request.become(State.QUEUED);
        PriorityLevel level = levels.get(request.level());
        if (level == null) {
            level = open(request.level());
        }
        level.add(request);
        level.load += weight(request);
        resize(1);
    }

    private PriorityLevel open(long number) {
        if (size == 0) {
            levels.clear();
        }
        PriorityLevel level = new PriorityLevel(number);
        levels.put(number, level);
        return level;
    }

    /** Puts a request that waits behind all others of its level; false when it is not here any more. */
    boolean delay(PendingRequest request) {
        if (request.state() != State.QUEUED || request.delayed) {
            return false;
        }
        level(request).delay(request);
        return true;
    }

    /** Removes a request wherever it is; false when it is gone. The caller marks it under the same lock. */
    boolean remove(PendingRequest request) {
        if (request.state() != State.QUEUED) {
            return false;
        }
        if (request.promised) {
            breakPromise(request);
        }
        PriorityLevel level = level(request);
        level.remove(request);
        level.load -= weight(request);
        resize(-1);
        if (level.isEmpty() && size > 0) {
            levels.remove(level.number());
        }
        return true;
    }

    /** Notes an instance on its way for the next {@code count} requests, which no longer count against their levels. */
    void promiseFirst(int count) {
        int left = count;
        for (T request = first(); request != null && left > 0; request = after(request)) {
            if (!request.promised) {
                request.promised = true;
                level(request).load -= weight(request);
                promised++;
                left--;
            }
        }
    }

    /** Notes that no instance is on its way any more: those that were took other requests. */
    void breakPromises() {
        for (T request = first(); request != null && promised > 0; request = after(request)) {
            if (request.promised) {
                breakPromise(request);
            }
        }
    }

    private void breakPromise(PendingRequest request) {
        request.promised = false;
        level(request).load += weight(request);
        promised--;
    }

    /** The request whose turn it is; null when none waits. */
    @SuppressWarnings("unchecked") // only add() puts requests in
    @Nullable
    T first() {
        return size == 0 ? null : (T) levels.firstEntry().getValue().first();
    }

    /** The request whose turn it is after {@code request}; null when none is. */
    @SuppressWarnings("unchecked") // only add() puts requests in
    @Nullable
    T after(T request) {
        PriorityLevel level = level(request);
        PendingRequest next = level.after(request);
        if (next == null && levels.size() > 1) {
            Map.Entry<Long, PriorityLevel> lower = levels.higherEntry(level.number());
            next = lower == null ? null : lower.getValue().first();
        }
        return (T) next;
    }

    /** The load of a request against its level's capacity. */
    private int weight(PendingRequest request) {
        return countsSizes ? request.size() : 1;
    }

    /** The level of a request that waits. */
    private static PriorityLevel level(PendingRequest request) {
        return Objects.requireNonNull(request.waitsIn);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    private void resize(int by) {
        size += by;
    }
}
