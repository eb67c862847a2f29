package gatun.runtime.scheduling;

import java.time.Duration;

/**
 * Decides which instance runs which ticket, and when. Safe for any thread.
 *
 * @param <T> what is to be run
 */
public interface Scheduler<T extends Ticket> {
    /** Takes a ticket, which must be new, or refuses it. Never blocks for longer than a queue operation. */
    Admission submit(T ticket);

    /** Takes a ticket back out that no instance has begun; false when it is too late and the ticket will come to another end. */
    boolean withdraw(Ticket ticket);

    /** Ends a ticket that no instance has begun and whose time to wait is over, or puts it behind others, as it wants. */
    void expire(Ticket ticket);

    /** How many tickets wait for an instance. */
    int pendingCount();

    /**
     * Refuses new tickets from now on, and does not wait: those that were accepted still come to their end, and each instance ends when
     * none is left. May be called again.
     */
    void drain();

    /**
     * As {@link #drain}, and waits for that. What still waits for an instance when the grace is over is refused. May be called again to
     * wait longer.
     *
     * @param grace how long accepted tickets may take
     * @return whether all instances have ended; otherwise what they use must stay open
     */
    boolean close(Duration grace);
}
