package gatun.runtime.scheduling;

import org.jspecify.annotations.Nullable;

/** A list that is linked through its tickets, so that putting one in or taking one out costs no memory and no search. */
final class TicketList {
    private @Nullable Ticket first;
    private @Nullable Ticket last;
    private int size;

    int size() {
        return size;
    }

    @Nullable
    Ticket first() {
        return first;
    }

    /** Appends a ticket that is in no list. */
    void add(Ticket ticket) {
        ticket.earlier = last;
        if (last == null) {
            first = ticket;
        } else {
            last.later = ticket;
        }
        last = ticket;
        size++;
    }

    /** Takes a ticket of this list out. */
    void remove(Ticket ticket) {
        Ticket earlier = ticket.earlier;
        Ticket later = ticket.later;
        if (earlier == null) {
            first = later;
        } else {
            earlier.later = later;
        }
        if (later == null) {
            last = earlier;
        } else {
            later.earlier = earlier;
        }
        ticket.earlier = null;
        ticket.later = null;
        size--;
    }
}
