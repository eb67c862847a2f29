package gatun.runtime.scheduling;

import gatun.runtime.scheduling.Ticket.State;
import org.jspecify.annotations.Nullable;

/**
 * A bounded queue of tickets, first in, first out, from whose middle one can be taken at no cost. Guarded by the lock of
 * the scheduler that owns it; only {@link #size()} may be called without.
 */
final class TicketQueue<T extends Ticket> {
    private final int capacity;
    private @Nullable Ticket first;
    private @Nullable Ticket last;
    private volatile int size;

    TicketQueue(int capacity) {
        this.capacity = capacity;
    }

    int size() {
        return size;
    }

    /** Appends a ticket; false when the queue is full. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    boolean add(T ticket) {
        if (size >= capacity) {
            return false;
        }
        ticket.become(State.QUEUED);
        ticket.earlier = last;
        if (last == null) {
            first = ticket;
        } else {
            last.later = ticket;
        }
        last = ticket;
        size++;
        return true;
    }

    /** Takes the oldest ticket out; null when there is none. The caller marks it before it gives up the lock. */
    @SuppressWarnings("unchecked") // only add() puts tickets in
    @Nullable
    T poll() {
        Ticket oldest = first;
        if (oldest != null) {
            unlink(oldest);
        }
        return (T) oldest;
    }

    /** Takes a ticket out wherever it stands; false when it is not here any more. */
    boolean remove(Ticket ticket) {
        if (ticket.state() != State.QUEUED) {
            return false;
        }
        unlink(ticket);
        return true;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    private void unlink(Ticket ticket) {
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
