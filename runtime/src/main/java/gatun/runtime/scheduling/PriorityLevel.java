// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import org.jspecify.annotations.Nullable;

/** The tickets of a priority level: first in, first out, then those put back. Guarded by the scheduler's lock. */
final class PriorityLevel {
    private final long number;
    private final Chain<Ticket> punctual = new Chain<>();
    private final Chain<Ticket> delayed = new Chain<>();

    /** The load against the level's capacity, without tickets for which an instance is on its way. */
    int load;

    PriorityLevel(long number) {
        this.number = number;
    }

    long number() {
        return number;
    }

    boolean isEmpty() {
        return punctual.size() == 0 && delayed.size() == 0;
    }

    /** The ticket whose turn it is in this level; null when none waits. */
    @Nullable
    Ticket first() {
        Ticket first = punctual.first();
        return first != null ? first : delayed.first();
    }

    /** The ticket whose turn it is in this level after {@code ticket}, which waits here; null when none is. */
    @Nullable
    Ticket after(Ticket ticket) {
        Ticket later = ticket.later;
        return later != null || ticket.delayed ? later : delayed.first();
    }

    void add(Ticket ticket) {
        punctual.add(ticket);
        ticket.waitsIn = this;
    }

    /** Puts a ticket that waits here, and was not put back before, behind all others. */
    void delay(Ticket ticket) {
        punctual.remove(ticket);
        ticket.delayed = true;
        delayed.add(ticket);
    }

    void remove(Ticket ticket) {
        (ticket.delayed ? delayed : punctual).remove(ticket);
        ticket.waitsIn = null;
    }
}
