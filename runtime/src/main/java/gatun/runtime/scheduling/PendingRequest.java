// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.placement.LentThread;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way through a {@link Scheduler}, and the thread that waits for it: the one that made it. It
 * is submitted at most once, or once more each time it was {@linkplain #renew renewed}.
 *
 * <pre> NEW -> QUEUED -> RUNNING -> COMPLETED
 *          QUEUED -> WITHDRAWN | EXPIRED | REFUSED
 *                    RUNNING -> QUEUED | REFUSED, of a step that is to run again </pre>
 */
public abstract class PendingRequest extends IntrusiveList.Node<PendingRequest> {
    /** How waiting ended. */
    public enum Outcome {
        /** It ran; the result or the failure is in the request. */
        COMPLETED,
        /** The scheduler stopped before an instance took it. */
        REFUSED,
        /** The deadline passed before an instance took it. */
        EXPIRED,
        /** It, or another step of its sequence, was cancelled, or its thread interrupted, before it ran. */
        GIVEN_UP
    }

    enum State {
        NEW,
        QUEUED,
        RUNNING,
        COMPLETED,
        WITHDRAWN,
        EXPIRED,
        REFUSED
    }

    /** Where requests wait, as they see it: the scheduler that accepted them. For any thread. */
    public interface Queue {
        /** Removes a request that no instance has begun; false when it is too late. */
        boolean withdraw(PendingRequest request);

        /** Ends a request not begun whose time to wait is over, or puts it behind others, as it wants. */
        void expire(PendingRequest request);

        /** Ends a request whose run was detached. */
        void endDetached(PendingRequest request);
    }

    private Thread waiter = Thread.currentThread();

    /** Changed under the scheduler's lock, but for the step to COMPLETED, made by the run's thread alone. */
    private volatile State state = State.NEW;

    private long level;
    private long deadlineNanos;
    private boolean delayedAtDeadline;
    private @Nullable SequenceStep step;
    private @Nullable Queue scheduler;

    /** Whether its run goes on beside the runner that began it. Written by the runner's thread, and read there. */
    private boolean detached;

    /** Whether it has run on the thread that submitted it; for that thread. */
    private boolean ranHere;

    /** This alone; null while nobody has asked. For the thread that submits it. */
    private @Nullable List<PendingRequest> alone;

    // From here on guarded by the scheduler's lock, as are its neighbours in the queue.

    /** When it was submitted, as a reading of {@link System#nanoTime}. */
    long submittedNanos;

    /** Where it waits; null when it does not wait for its turn among others. */
    @Nullable
    PriorityLevel waitsIn;

    /** Whether it was put back behind the others of its level. */
    boolean delayed;

    boolean promised;

    /** Whether it has run, and waits only for others that must end before it. */
    private boolean finished;

    /** A request that the calling thread will wait for. */
    protected PendingRequest() {}

    /**
     * Sets how this waits; without this call in level 0, and for ever. Call it before it is submitted. The least
     * unsigned level is the most urgent; at {@code deadlineNanos} of {@link System#nanoTime}, 0 for never, a waiting
     * request is given up, or put back behind its level if {@code delayed}.
     */
    public final void limitWait(long level, long deadlineNanos, boolean delayed) {
        this.level = level;
        this.deadlineNanos = deadlineNanos;
        delayedAtDeadline = delayed;
    }

    /** Whether the submitting thread ran it from begin to end, so that no other thread knows it. For that thread. */
    public final boolean ranWhereSubmitted() {
        return ranHere;
    }

    /** Makes this a new request of its thread. Only if {@link #ranWhereSubmitted}, and for no step of a sequence. */
    protected final void renew() {
        waiter = Thread.currentThread();
        state = State.NEW;
        ranHere = false;
    }

    /** This alone, as a batch. For the thread that submits it. */
    final List<PendingRequest> alone() {
        List<PendingRequest> batch = alone;
        if (batch == null) {
            batch = List.of(this);
            alone = batch;
        }
        return batch;
    }

    /** Makes it a step, for a scheduler with a {@link SequencePolicy}. To be called before it is submitted. */
    public final void makeStep(SequenceStep newStep) {
        step = newStep;
    }

    /** This as a step of its sequence. Throws IllegalStateException when it belongs to none. */
    public final SequenceStep step() {
        SequenceStep known = step;
        if (known == null) {
            throw new IllegalStateException("the request belongs to no sequence");
        }
        return known;
    }

    /** Its size in a batch; at least 1. */
    protected int size() {
        return 1;
    }

    /** Whether it may run in one batch with {@code first}, which begins it and is of the same scheduler. */
    protected boolean joins(PendingRequest first) {
        return true;
    }

    /**
     * Called by the submitting thread when the scheduler has taken this in: later submissions come after it. It may run
     * or be over, but for a run on this thread, which begins afterwards. Must return at once, and not throw.
     */
    protected void taken() {}

    /** Called by the waiting thread each time it wakes; does nothing by default. Must not throw. */
    protected void attend() {}

    /** Has the waiting thread {@link #attend}. For any thread. */
    protected final void callWaiter() {
        LockSupport.unpark(waiter);
    }

    /** Whether the calling thread is the one that waits for this. */
    protected final boolean isAwaitedHere() {
        return Thread.currentThread().equals(waiter);
    }

    /** Lets the run go on after {@link BatchRunner#run}, until {@link #endDetached}. For the runner. */
    public final void detach() {
        detached = true;
    }

    /** Ends this as the scheduler would after a run, in the order in which its requests have to end. For any thread. */
    public final void endDetached() {
        Objects.requireNonNull(scheduler).endDetached(this);
    }

    final boolean isDetached() {
        return detached;
    }

    final void submitTo(Queue newScheduler) {
        scheduler = newScheduler;
    }

    final long level() {
        return level;
    }

    /** Whether its time to wait is over; never again once it was put back for that. */
    final boolean isOverdue(long nowNanos) {
        return deadlineNanos != 0 && !delayed && nowNanos - deadlineNanos >= 0;
    }

    final boolean delayedAtDeadline() {
        return delayedAtDeadline;
    }

    final State state() {
        return state;
    }

    final void become(State next) {
        state = next;
    }

    final void finish() {
        finished = true;
    }

    final boolean isFinished() {
        return finished;
    }

    /** Publishes what the instance wrote and wakes the waiter. */
    final void complete() {
        state = State.COMPLETED;
        LockSupport.unpark(waiter);
    }

    /** Ends this on the thread that submitted it, and ran it. */
    final void completeHere() {
        ranHere = true;
        state = State.COMPLETED;
    }

    final void refuse() {
        state = State.REFUSED;
        LockSupport.unpark(waiter);
    }

    final void withdraw() {
        state = State.WITHDRAWN;
        LockSupport.unpark(waiter);
    }

    /** Tells the waiter that this waited too long. */
    final void expire() {
        state = State.EXPIRED;
        LockSupport.unpark(waiter);
    }

    /** Removes this from the queue of {@code scheduler} and wakes the waiter; false if it is not there. Thread-safe. */
    public final boolean giveUp(Queue scheduler) {
        boolean withdrawn = scheduler.withdraw(this);
        if (withdrawn) {
            LockSupport.unpark(waiter);
        }
        return withdrawn;
    }

    /**
     * Parks until this ends, in the scheduler that accepted it. A running request is always waited for, because the
     * engine uses the request's memory; an interrupt is kept for the caller.
     */
    public final Outcome await(Queue scheduler) {
        assert Thread.currentThread().equals(waiter) : "awaited by " + Thread.currentThread();
        boolean interrupted = false;
        boolean mayBeGivenUp = true;
        boolean mayExpire = deadlineNanos != 0;
        try {
            while (true) {
                // Before the look at the state: it may park, and so use up the signal of a change of this request
                // meanwhile.
                attend();
                switch (state) {
                    case COMPLETED -> {
                        return Outcome.COMPLETED;
                    }
                    case REFUSED -> {
                        return Outcome.REFUSED;
                    }
                    case EXPIRED -> {
                        return Outcome.EXPIRED;
                    }
                    case WITHDRAWN -> {
                        return Outcome.GIVEN_UP;
                    }
                    case NEW, QUEUED, RUNNING -> {}
                }
                if (Thread.interrupted()) {
                    interrupted = true;
                    if (mayBeGivenUp && scheduler.withdraw(this)) {
                        return Outcome.GIVEN_UP;
                    }
                    mayBeGivenUp = false;
                } else if (!mayExpire) {
                    LentThread.park(this);
                } else {
                    long remaining = deadlineNanos - System.nanoTime();
                    if (remaining > 0) {
                        LentThread.parkNanos(this, remaining);
                    } else {
                        scheduler.expire(this);
                        mayExpire = false;
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
