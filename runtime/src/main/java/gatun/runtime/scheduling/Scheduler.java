// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.time.Duration;
import java.util.List;

/**
 * Decides which instance runs which ticket, and when. Safe for any thread.
 *
 * @param <T> what is to be run
 */
public interface Scheduler<T extends Ticket> {
    /** Takes a ticket, which must be new, or refuses it. Never blocks for longer than a queue operation. */
    Admission submit(T ticket);

    /**
     * Takes a ticket back out that no instance has begun; false when it is too late and the ticket will come to another
     * end.
     */
    boolean withdraw(Ticket ticket);

    /**
     * Ends a ticket that no instance has begun and whose time to wait is over, or puts it behind others, as it wants.
     */
    void expire(Ticket ticket);

    /** How many tickets wait for an instance. */
    int pendingCount();

    /**
     * Whether it has ended by a fault of its own, which the log tells: it refuses everything, as one that was closed
     * does.
     */
    boolean isBroken();

    /**
     * Runs tickets by other workers from now on; nobody's ticket is refused or delayed for it. Waits until those that
     * are {@code added} have opened. When one fails, those that have opened are closed again, its failure is thrown,
     * and everything is as before. Those that are {@code removed} begin nothing new; each is closed by its thread when
     * it has finished what only it can finish, and this does not wait for that. One worker at least must stay. For one
     * caller at a time.
     *
     * @return false when nothing was changed because the scheduler stops
     */
    boolean exchange(List<? extends Worker<T>> added, List<? extends Worker<T>> removed);

    /**
     * Refuses new tickets from now on, and does not wait: those that were accepted still come to their end, and each
     * instance ends when none is left. May be called again.
     */
    void drain();

    /**
     * As {@link #drain}, and waits for that. What still waits for an instance when the grace is over is refused. May be
     * called again to wait longer.
     *
     * @param grace how long accepted tickets may take
     * @return whether all instances have ended; otherwise what they use must stay open
     */
    boolean close(Duration grace);
}
