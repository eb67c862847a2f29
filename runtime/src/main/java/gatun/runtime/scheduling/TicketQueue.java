// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import gatun.runtime.scheduling.Ticket.State;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The tickets that wait, by priority level and within it first in, first out, overdue ones that were put back behind
 * the others. Removal is free. A level exists while tickets wait in it: a new one in each request costs a search and no
 * memory. Guarded by the scheduler's lock, but for {@link #size()}.
 */
final class TicketQueue<T extends Ticket> {
    /** The most levels at a time: each has its own capacity, and clients name them. */
    static final int LEVEL_LIMIT = 1000;

    private final QueueCapacities capacities;
    private final boolean countsSizes;

    /** The levels in which tickets wait, the most urgent first. An empty queue keeps the level of the last. */
    private final TreeMap<Long, PriorityLevel> levels = new TreeMap<>(Long::compareUnsigned);

    private volatile int size;
    private int promised;

    /** A queue in which nothing waits. {@code countsSizes} says whether the capacities are about the tickets' sizes. */
    TicketQueue(QueueCapacities capacities, boolean countsSizes) {
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

    /** Whether no more tickets of the ticket's level may wait. */
    boolean isFull(T ticket) {
        PriorityLevel level = levels.get(ticket.level());
        if (level == null && levels.size() >= LEVEL_LIMIT) {
            return true;
        }
        return weight(ticket) > capacities.of(ticket.level()) - (level == null ? 0 : level.load);
    }

    void add(T ticket) {
        ticket.become(State.QUEUED);
        PriorityLevel level = levels.get(ticket.level());
        if (level == null) {
            level = open(ticket.level());
        }
        level.add(ticket);
        level.load += weight(ticket);
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

    /** Puts a ticket that waits behind all others of its level; false when it is not here any more. */
    boolean delay(Ticket ticket) {
        if (ticket.state() != State.QUEUED || ticket.delayed) {
            return false;
        }
        level(ticket).delay(ticket);
        return true;
    }

    /** Removes a ticket wherever it is; false when it is gone. The caller marks it under the same lock. */
    boolean remove(Ticket ticket) {
        if (ticket.state() != State.QUEUED) {
            return false;
        }
        if (ticket.promised) {
            breakPromise(ticket);
        }
        PriorityLevel level = level(ticket);
        level.remove(ticket);
        level.load -= weight(ticket);
        resize(-1);
        if (level.isEmpty() && size > 0) {
            levels.remove(level.number());
        }
        return true;
    }

    /** Notes an instance on its way for the next {@code count} tickets, which no longer count against their levels. */
    void promiseFirst(int count) {
        int left = count;
        for (T ticket = first(); ticket != null && left > 0; ticket = after(ticket)) {
            if (!ticket.promised) {
                ticket.promised = true;
                level(ticket).load -= weight(ticket);
                promised++;
                left--;
            }
        }
    }

    /** Notes that no instance is on its way any more: those that were took other tickets. */
    void breakPromises() {
        for (T ticket = first(); ticket != null && promised > 0; ticket = after(ticket)) {
            if (ticket.promised) {
                breakPromise(ticket);
            }
        }
    }

    private void breakPromise(Ticket ticket) {
        ticket.promised = false;
        level(ticket).load += weight(ticket);
        promised--;
    }

    /** The ticket whose turn it is; null when none waits. */
    @SuppressWarnings("unchecked") // only add() puts tickets in
    @Nullable
    T first() {
        return size == 0 ? null : (T) levels.firstEntry().getValue().first();
    }

    /** The ticket whose turn it is after {@code ticket}; null when none is. */
    @SuppressWarnings("unchecked") // only add() puts tickets in
    @Nullable
    T after(T ticket) {
        PriorityLevel level = level(ticket);
        Ticket next = level.after(ticket);
        if (next == null && levels.size() > 1) {
            Map.Entry<Long, PriorityLevel> lower = levels.higherEntry(level.number());
            next = lower == null ? null : lower.getValue().first();
        }
        return (T) next;
    }

    /** The load of a ticket against its level's capacity. */
    private int weight(Ticket ticket) {
        return countsSizes ? ticket.size() : 1;
    }

    /** The level of a ticket that waits. */
    private static PriorityLevel level(Ticket ticket) {
        return Objects.requireNonNull(ticket.waitsIn);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    private void resize(int by) {
        size += by;
    }
}
