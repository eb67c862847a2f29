// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.scheduling.Ticket.State;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tickets that wait, in the order of their turn: by priority level, in each level first in, first out, and those
 * whose time was up and that were put back behind all others of their level. A ticket can be taken from the middle at
 * no cost. Guarded by the lock of the scheduler that owns it; only {@link #size()} may be called without.
 */
final class TicketQueue<T extends Ticket> {
    private final Level[] levels;
    private final boolean countsSizes;
    private volatile int size;
    private int promised;

    /** A level's tickets. */
    private static final class Level {
        final int capacity;
        final Chain<Ticket> punctual = new Chain<>();
        final Chain<Ticket> delayed = new Chain<>();
        /**
         * The load that counts against the capacity. Tickets for which an instance is on its way do not count: they are
         * as good as taken.
         */
        int load;

        Level(int capacity) {
            this.capacity = capacity;
        }

        boolean isFullFor(int weight) {
            return weight > capacity - load;
        }
    }

    /**
     * A queue in which nothing waits.
     *
     * @param capacities how many tickets may wait in each level, the most urgent first
     * @param countsSizes whether the capacities are about the tickets' sizes
     */
    TicketQueue(List<Integer> capacities, boolean countsSizes) {
        levels = capacities.stream().map(Level::new).toArray(Level[]::new);
        this.countsSizes = countsSizes;
    }

    int size() {
        return size;
    }

    /** Whether no more tickets of the ticket's level may wait. */
    boolean isFull(T ticket) {
        return level(ticket).isFullFor(weight(ticket));
    }

    /** Appends a ticket to its level. */
    void add(T ticket) {
        ticket.become(State.QUEUED);
        Level level = level(ticket);
        level.punctual.add(ticket);
        level.load += weight(ticket);
        resize(1);
    }

    /** Puts a ticket that waits behind all others of its level; false when it is not here any more. */
    boolean delay(Ticket ticket) {
        if (ticket.state() != State.QUEUED || ticket.delayed) {
            return false;
        }
        Level level = level(ticket);
        level.punctual.remove(ticket);
        ticket.delayed = true;
        level.delayed.add(ticket);
        return true;
    }

    /**
     * Takes a ticket out wherever it stands; false when it is not here any more. The caller marks it before it gives up
     * the lock.
     */
    boolean remove(Ticket ticket) {
        if (ticket.state() != State.QUEUED) {
            return false;
        }
        Level level = level(ticket);
        (ticket.delayed ? level.delayed : level.punctual).remove(ticket);
        if (ticket.promised) {
            breakPromise(ticket);
        }
        level.load -= weight(ticket);
        resize(-1);
        return true;
    }

    /**
     * Notes that an instance is on its way for the first {@code count} tickets for which none was yet. They do not
     * count against their levels' capacities any more.
     */
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
    @Nullable
    T first() {
        return firstFrom(0);
    }

    /** The ticket whose turn it is after {@code ticket}; null when none is. */
    @SuppressWarnings("unchecked") // only add() puts tickets in
    @Nullable
    T after(T ticket) {
        Ticket later = ticket.later;
        if (later != null) {
            return (T) later;
        }
        Ticket first = ticket.delayed ? null : level(ticket).delayed.first();
        return first != null ? (T) first : firstFrom(ticket.level() + 1);
    }

    @SuppressWarnings("unchecked") // only add() puts tickets in
    private @Nullable T firstFrom(int level) {
        for (int i = level; i < levels.length; i++) {
            Ticket first = levels[i].punctual.first();
            if (first == null) {
                first = levels[i].delayed.first();
            }
            if (first != null) {
                return (T) first;
            }
        }
        return null;
    }

    /** The load of a ticket against its level's capacity. */
    private int weight(Ticket ticket) {
        return countsSizes ? ticket.size() : 1;
    }

    private Level level(Ticket ticket) {
        return levels[ticket.level()];
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    private void resize(int by) {
        size += by;
    }
}
