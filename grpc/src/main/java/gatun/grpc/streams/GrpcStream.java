// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.streams;

import gatun.grpc.frames.FrameReader;
import gatun.grpc.frames.FrameWriter;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.frames.SendingStream;
import gatun.grpc.headers.HeaderEncoder;
import gatun.grpc.streams.InboundMessage.Placement;
import gatun.grpc.streams.InboundMessage.ReceiveWindow;
import gatun.memory.buffers.BufferPool;
import gatun.memory.buffers.ClientQuotaKey;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.limits.WorkBudgets.WorkBudget;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/** One HTTP/2 stream: its windows, state and call. The reader feeds it, and the call sends through it. */
public final class GrpcStream extends SendingStream implements MessageAssembler.Receiver {
    private static final AtomicReferenceFieldUpdater<GrpcStream, @Nullable StreamChanges> CHANGES =
            AtomicReferenceFieldUpdater.newUpdater(GrpcStream.class, StreamChanges.class, "changes");
    private static final AtomicIntegerFieldUpdater<GrpcStream> OPEN_PARTS =
            AtomicIntegerFieldUpdater.newUpdater(GrpcStream.class, "openParts");

    private final Host host;
    private final ReceiveWindow receiveWindow;
    private final MessageAssembler assembler;
    private final StreamCall call;
    private volatile boolean remoteClosed;

    /** Made when the first change has to wait for the writer's lock; most streams need none. */
    private volatile @Nullable StreamChanges changes;

    /** The handler, until it was told the call's end, and the sending half: the call counts until both are over. */
    @SuppressWarnings("UnusedVariable") // OPEN_PARTS reads it
    private volatile int openParts = 2;

    /** The connection of a stream. */
    public interface Host {
        FrameWriter writer();

        BufferPool pool();

        /** Who sends, among all who share the buffer pool. */
        ClientQuotaKey sender();

        /** Bytes that a client may send on a stream ahead of what was consumed. */
        int streamWindow();

        /** The most bytes of a request message. */
        int maxMessageSize();

        /** The work that the client throws away. */
        AbandonedCalls abandoned();

        /** The stream is over; its late frames are passed over from now on. Any thread. */
        void forget(GrpcStream stream);

        /** A call's handler was told its end. Any thread. */
        void callEnded();

        /** The end of a call's response is about to be written. Under the writer's lock. */
        void beforeResponse(StreamCall call);

        /** The calling thread, which may be the one that reads the connection, is about to wait for the client. */
        void beforeWaiting(StreamCall call);
    }

    /** Makes the call of a stream. */
    public interface CallFactory {
        /** Where the call's request messages are to lie in their buffers. */
        Placement placement();

        /** Makes the call. */
        StreamCall open(GrpcStream stream);
    }

    /** A stream that carries the call that {@code calls} makes. */
    public GrpcStream(int id, Host host, CallFactory calls) {
        super(id, host.writer());
        this.host = host;
        this.receiveWindow = new ReceiveWindow(host.streamWindow());
        this.assembler =
                new MessageAssembler(host.pool(), host.sender(), calls.placement(), host.maxMessageSize(), this);
        this.call = calls.open(this);
    }

    public StreamCall call() {
        return call;
    }

    /** The work that the client throws away. */
    public AbandonedCalls abandoned() {
        return host.abandoned();
    }

    // Called by the reader.

    /** The connection knows the stream now. */
    public void opened() {
        call.watchDeadline();
    }

    /** A DATA frame's payload, of which the last {@code padding} bytes and its length byte mean nothing. */
    public void data(FrameReader in, int payload, int padding) throws IOException {
        if (!receiveWindow.received(payload, padding)) {
            in.skip(payload);
            reset(Http2Error.FLOW_CONTROL_ERROR);
            return;
        }
        call.received(payload);
        assembler.accept(in, payload);
    }

    /** The client will send nothing more; whether the call is to run now, on a thread that the caller finds. */
    public boolean endOfRequest() {
        remoteClosed = true;
        boolean isToRun = false;
        if (assembler.inMessage()) {
            abort(Status.INVALID_ARGUMENT.withDescription("the request ended in the middle of a message"));
        } else {
            isToRun = call.requestEnded();
        }
        forgetWhenOver();
        return isToRun;
    }

    /** The client or the connection gave the stream up: nothing can be sent. */
    public void lost(Status why) {
        remoteClosed = true;
        changes().end(writer(), w -> w.endStream(this));
        over(why);
    }

    /** The stream is against HTTP/2's rules and ends without a response. */
    public void reset(Http2Error error) {
        remoteClosed = true;
        changes().end(writer(), w -> {
            if (!sendClosed()) {
                w.frames().reset(id(), error);
                w.endStream(this);
            }
        });
        host.abandoned().noteEndedEarly();
        over(Status.CANCELLED.withDescription("the client broke the rules of HTTP/2: " + error));
    }

    /** The client lets more be sent. */
    public void growSendWindow(int increment) {
        changes().grow(writer(), increment);
    }

    private StreamChanges changes() {
        StreamChanges present = changes;
        if (present == null) {
            present = new StreamChanges(this);
            if (!CHANGES.compareAndSet(this, null, present)) {
                present = Objects.requireNonNull(changes);
            }
        }
        return present;
    }

    /** Answers with an error of the connection's own, without waiting. Any thread. */
    public void abort(Status status) {
        host.abandoned().noteEndedEarly();
        changes().end(writer(), w -> appendAbort(w, status));
        over(status);
    }

    /** Ends the call when its client reads too slowly, and others find no memory. Any thread. */
    public void endIfReadTooSlowly() {
        if (isReadTooSlowly()) {
            abort(Status.UNAVAILABLE.withDescription(
                    "the response was read too slowly while memory was short for others; try again later"));
        }
    }

    private void appendAbort(FrameWriter w, Status status) throws IOException {
        if (sendClosed()) {
            return;
        }
        if (isInMessage()) {
            w.frames().reset(id(), Http2Error.CANCEL);
        } else {
            Metadata none = new Metadata();
            byte[] block =
                    hasSentHeaders() ? HeaderEncoder.trailers(status, none) : HeaderEncoder.trailersOnly(status, none);
            w.frames().headers(id(), block, true);
        }
        if (!remoteClosed && !isInMessage()) {
            w.frames().reset(id(), Http2Error.NO_ERROR);
        }
        w.endStream(this);
    }

    private void over(Status why) {
        assembler.close();
        call.cancel(why);
        host.forget(this);
    }

    private void forgetWhenOver() {
        if (remoteClosed && sendClosed()) {
            host.forget(this);
        }
    }

    @Override
    public void messageBegins(long beyond) {
        // Before: the handler may let it go at any time after.
        assembler.holdBack();
        announce(receiveWindow.messageBegins(beyond));
        letSenderGo();
    }

    @Override
    public void messageArrived(InboundMessage message) {
        receiveWindow.messageWaits();
        call.messageArrived(message);
    }

    @Override
    public void messageRefused(Status status) {
        abort(status);
    }

    // Called by the call.

    /** Sends; see {@link FrameWriter#send}. */
    public boolean send(byte[] headers, @Nullable OutboundMessage message, byte[] trailers) {
        boolean sent = writer().send(this, headers, message, trailers);
        if (trailers.length > 0) {
            if (!remoteClosed) {
                assembler.close();
                host.abandoned().noteEndedEarly();
                host.forget(this);
            }
            forgetWhenOver();
        }
        return sent;
    }

    /** The handler has consumed a message of {@code byteSize} bytes, prefix included. */
    public void messageConsumed(long byteSize) {
        announce(receiveWindow.messageConsumed(byteSize));
        letSenderGo();
    }

    /** From now on the client's time counts, where it may send all of its message. */
    private void letSenderGo() {
        if (assembler.awaitsBytes() && !receiveWindow.holdsBack()) {
            assembler.letGo();
        }
    }

    /** The handler was told the call's end. */
    public void callEnded() {
        endPart();
    }

    private void endPart() {
        if (OPEN_PARTS.decrementAndGet(this) == 0) {
            host.callEnded();
        }
    }

    private void announce(int increment) {
        if (increment > 0 && !remoteClosed && !sendClosed()) {
            changes().announce(writer(), increment);
        }
    }

    // Called by the writer, under its lock.

    @Override
    protected void beforeResponse() {
        host.beforeResponse(call);
    }

    @Override
    protected void beforeWaiting() {
        host.beforeWaiting(call);
    }

    @Override
    protected void windowOpened() {
        call.windowOpened();
    }

    @Override
    protected void sendEnded() {
        endPart();
    }

    void applyGrowth(FrameWriter w, long increment) throws IOException {
        moveSendWindow(increment);
        if (sendWindow() > Http2.LARGEST_WINDOW_SIZE && !sendClosed()) {
            w.frames().reset(id(), Http2Error.FLOW_CONTROL_ERROR);
            w.endStream(this);
        }
    }

    void applyAnnouncement(FrameWriter w, int increment) throws IOException {
        if (!sendClosed()) {
            receiveWindow.told(increment);
            w.frames().windowUpdate(id(), increment);
        }
    }

    /** Whether the client's half of the stream is open, so that it must be told to stop. */
    @Override
    public boolean remoteOpen() {
        return !remoteClosed;
    }

    /** One connection's calls, finished or thrown away, in its client's budget. Any thread may add. */
    public static final class AbandonedCalls {
        /** The most calls that are remembered to have been ended here before their clients had sent everything. */
        private static final int MOST_ENDED_EARLY = 1000;

        /** A reset that comes after the response takes back what that response has earned, and counts besides. */
        private static final long LATE_RESET_NANOS = 2 * (WorkBudgets.CALL_NANOS + WorkBudgets.REQUEST_NANOS);

        private final WorkBudget budget;

        /** Calls that the server has ended: their clients may reset them at the same moment, or in response. */
        private final AtomicInteger endedEarly = new AtomicInteger();

        private volatile boolean tooMuch;

        /** @param budget what the client may throw away */
        public AbandonedCalls(WorkBudget budget) {
            this.budget = budget;
        }

        /** The client has got the response to that much work. */
        public void finish(long nanos) {
            budget.finish(nanos);
        }

        /** That much work was done for nothing. */
        public void add(long nanos) {
            if (!budget.abandon(nanos)) {
                tooMuch = true;
            }
        }

        /** The server has ended a call whose client may still reset it. */
        public void noteEndedEarly() {
            if (endedEarly.get() < MOST_ENDED_EARLY) {
                endedEarly.incrementAndGet();
            }
        }

        /** The client resets a call that is over. */
        public void addLateReset() {
            if (endedEarly.getAndUpdate(count -> Math.max(0, count - 1)) == 0) {
                add(LATE_RESET_NANOS);
            }
        }

        /** Throws {@link ConnectionError} ENHANCE_YOUR_CALM unless the client is within its budget. */
        public void requireWithin() {
            if (tooMuch) {
                throw new ConnectionError(
                        Http2Error.ENHANCE_YOUR_CALM,
                        "too many calls were given up before they were answered, and too few finished; "
                                + "give up fewer calls, or less often");
            }
        }
    }
}
