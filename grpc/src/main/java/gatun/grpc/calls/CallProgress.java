// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.grpc.streams.InboundMessage;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The state of a call, and the next event for its handler. A thread whose report gets true must start the call's
 * thread, which takes steps until none is left. Safe for any thread; never waits. Its lock is its own monitor: another
 * would be one more object for each call. No other lock is taken within, so that no pinned virtual thread waits there.
 */
final class CallProgress {
    /** The next event for the handler. */
    enum Step {
        /** Nothing: the thread is done for now. */
        NOTHING,
        START,
        /** That it may send without waiting. */
        READY,
        MESSAGE,
        /** That no more messages will come. */
        HALF_CLOSE,
        /** That all it sent went out. */
        COMPLETE,
        /** That nobody waits for its response any more. */
        CANCEL
    }

    private final boolean waitsForWholeRequest;
    private final CallResponse<?> response;

    // Guarded by this.
    /** The message that the handler gets next; most calls have no other. */
    private @Nullable InboundMessage arrived;

    /** Those behind it; null while there were none. */
    private @Nullable ArrayDeque<InboundMessage> arrivedLater;

    private boolean started;
    private boolean running;
    private int requested;
    private boolean requestEnded;
    private boolean halfCloseGiven;
    private boolean closeDone;
    private boolean ended;

    // Written under this monitor, read anywhere.
    private volatile boolean cancelled;
    private volatile boolean closed;

    /** Whether the handler is to hear when it may send without waiting; the first time without having asked. */
    private volatile boolean wantsReady = true;

    /** A call that has not begun; {@code response} knows whether a message could be sent without waiting. */
    CallProgress(boolean waitsForWholeRequest, CallResponse<?> response) {
        this.waitsForWholeRequest = waitsForWholeRequest;
        this.response = response;
    }

    /** A message came; closed here when nobody wants it any more. */
    boolean messageArrived(InboundMessage message) {
        synchronized (this) {
            if (!cancelled && !closed) {
                add(message);
                return mustRun();
            }
        }
        message.close();
        return false;
    }

    synchronized boolean requestEnded() {
        requestEnded = true;
        return mustRun();
    }

    /** The handler takes {@code count} more messages. */
    synchronized boolean requested(int count) {
        requested = requested > Integer.MAX_VALUE - count ? Integer.MAX_VALUE : requested + count;
        return mustRun();
    }

    /** The thread that was to be started is not: the call ends before it has begun. */
    synchronized void standBack() {
        running = false;
    }

    boolean windowOpened() {
        if (!wantsReady || !response.isReady()) {
            return false;
        }
        synchronized (this) {
            return mustRun();
        }
    }

    /** The outcome of cancelling a call. */
    enum Cancellation {
        TOO_LATE,
        /** It had not begun and never will. */
        NEVER_BEGAN,
        /** Its thread runs and will come to it; the handler may be busy. */
        RUNNING,
        /** Its thread must be started to tell the handler. */
        MUST_RUN
    }

    Cancellation cancel() {
        Cancellation outcome = markCancelled();
        if (outcome == Cancellation.NEVER_BEGAN) {
            dropArrived();
        }
        return outcome;
    }

    private synchronized Cancellation markCancelled() {
        if (cancelled || closed || ended) {
            return Cancellation.TOO_LATE;
        }
        cancelled = true;
        if (!started && !running) {
            ended = true;
            return Cancellation.NEVER_BEGAN;
        }
        return mustRun() ? Cancellation.MUST_RUN : Cancellation.RUNNING;
    }

    /** The handler begins to close the call; false when it did before. */
    synchronized boolean beginClose() {
        boolean first = !closed;
        closed = true;
        return first;
    }

    /** The handler has closed the call, and all of it {@code wentOut}, or not. */
    synchronized boolean endClose(boolean wentOut) {
        closeDone = true;
        cancelled |= !wentOut;
        return mustRun();
    }

    boolean isCancelled() {
        return cancelled;
    }

    boolean isClosed() {
        return closed;
    }

    void wantReady() {
        wantsReady = true;
    }

    /** The next step, for the call's thread, which must not ask again after {@link Step#NOTHING}. */
    Step next() {
        Step step = takeStep();
        if (step == Step.COMPLETE || step == Step.CANCEL) {
            dropArrived();
        }
        return step;
    }

    private synchronized Step takeStep() {
        Step step = nextStep();
        switch (step) {
            case NOTHING -> running = false;
            case READY -> wantsReady = false;
            case HALF_CLOSE -> halfCloseGiven = true;
            case COMPLETE, CANCEL -> ended = true;
            case START, MESSAGE -> {
                // The thread reports these when they are done or taken.
            }
        }
        return step;
    }

    synchronized void started() {
        started = true;
    }

    synchronized InboundMessage takeMessage() {
        requested--;
        InboundMessage next = Objects.requireNonNull(arrived);
        arrived = arrivedLater == null ? null : arrivedLater.poll();
        return next;
    }

    private void add(InboundMessage message) {
        if (arrived == null) {
            arrived = message;
            return;
        }
        if (arrivedLater == null) {
            arrivedLater = new ArrayDeque<>();
        }
        arrivedLater.add(message);
    }

    private boolean mustRun() {
        assert Thread.holdsLock(this);
        if (running || nextStep() == Step.NOTHING) {
            return false;
        }
        running = true;
        return true;
    }

    private Step nextStep() {
        if (ended) {
            return Step.NOTHING;
        }
        if (!started) {
            if (cancelled) {
                return Step.CANCEL;
            }
            boolean complete = requestEnded || (arrivedLater != null && !arrivedLater.isEmpty());
            return waitsForWholeRequest && !complete ? Step.NOTHING : Step.START;
        }
        if (closed && !closeDone) {
            return Step.NOTHING;
        }
        if (cancelled) {
            return Step.CANCEL;
        }
        if (closed) {
            return Step.COMPLETE;
        }
        if (wantsReady && response.isReady()) {
            return Step.READY;
        }
        if (arrived != null) {
            return requested > 0 ? Step.MESSAGE : Step.NOTHING;
        }
        return requestEnded && !halfCloseGiven ? Step.HALF_CLOSE : Step.NOTHING;
    }

    /** For whoever has ended the call: nothing arrives any more, and nobody else takes what has. */
    private void dropArrived() {
        if (arrived != null) {
            arrived.close();
            arrived = null;
        }
        if (arrivedLater != null) {
            arrivedLater.forEach(InboundMessage::close);
            arrivedLater = null;
        }
    }
}
