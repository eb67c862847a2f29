package gatun.runtime.scheduling;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way through a {@link Scheduler}, and the thread that waits for it: the one that made it. A ticket is
 * submitted at most once.
 *
 * <pre> NEW -> QUEUED -> RUNNING -> COMPLETED
 *          QUEUED -> WITHDRAWN | REFUSED </pre>
 */
public abstract class Ticket {
    /** How waiting ended. */
    public enum Outcome {
        /** It ran; the result or the failure is in the ticket. */
        COMPLETED,
        /** The scheduler stopped before an instance took it. */
        REFUSED,
        /** The deadline passed before an instance took it. */
        EXPIRED,
        /** The waiting thread was interrupted before an instance took it. */
        INTERRUPTED
    }

    enum State {
        NEW,
        QUEUED,
        RUNNING,
        COMPLETED,
        WITHDRAWN,
        REFUSED
    }

    private final Thread waiter = Thread.currentThread();

    /** Changed by the scheduler under its lock, but for the step to COMPLETED, which the instance's thread makes alone. */
    private volatile State state = State.NEW;

    // The neighbours in the queue; guarded by the scheduler's lock.
    @Nullable
    Ticket earlier;

    @Nullable
    Ticket later;

    /** A ticket that the calling thread will wait for. */
    protected Ticket() {}

    final State state() {
        return state;
    }

    final void become(State next) {
        state = next;
    }

    /** Publishes what the instance wrote and wakes the waiter. */
    final void complete() {
        state = State.COMPLETED;
        LockSupport.unpark(waiter);
    }

    /** Tells the waiter that no instance will run this. */
    final void refuse() {
        state = State.REFUSED;
        LockSupport.unpark(waiter);
    }

    /**
     * Parks until this ticket has come to an end. A running ticket is waited for whatever happens, because the engine uses
     * the request's memory; an interrupt is kept for the caller.
     *
     * @param scheduler the one that accepted this ticket
     * @param deadlineNanos reading of {@link System#nanoTime} at which a ticket that still waits is given up; 0 for never
     */
    public final Outcome await(Scheduler<?> scheduler, long deadlineNanos) {
        assert Thread.currentThread().equals(waiter) : "awaited by " + Thread.currentThread();
        boolean interrupted = false;
        boolean mayWithdraw = true;
        try {
            while (true) {
                State now = state;
                if (now == State.COMPLETED) {
                    return Outcome.COMPLETED;
                }
                if (now == State.REFUSED) {
                    return Outcome.REFUSED;
                }
                if (Thread.interrupted()) {
                    interrupted = true;
                    if (mayWithdraw && scheduler.withdraw(this)) {
                        return Outcome.INTERRUPTED;
                    }
                    mayWithdraw = false;
                } else if (deadlineNanos == 0 || !mayWithdraw) {
                    LockSupport.park(this);
                } else {
                    long remaining = deadlineNanos - System.nanoTime();
                    if (remaining > 0) {
                        LockSupport.parkNanos(this, remaining);
                    } else if (scheduler.withdraw(this)) {
                        return Outcome.EXPIRED;
                    } else {
                        mayWithdraw = false;
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
