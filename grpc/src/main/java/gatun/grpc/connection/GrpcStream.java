// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.memory.buffers.ReadingPace;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One HTTP/2 stream: its windows, state and call. The reader feeds it, and the call sends through it. */
final class GrpcStream implements MessageAssembler.Receiver {
    private static final AtomicReferenceFieldUpdater<GrpcStream, @Nullable StreamChanges> CHANGES =
            AtomicReferenceFieldUpdater.newUpdater(GrpcStream.class, StreamChanges.class, "changes");
    private static final AtomicIntegerFieldUpdater<GrpcStream> OPEN_PARTS =
            AtomicIntegerFieldUpdater.newUpdater(GrpcStream.class, "openParts");

    /** Its number, as an object that all who keep the stream by it share. */
    private final Integer id;

    private final GrpcConnection connection;
    private final FrameWriter writer;
    private final ReceiveWindow receiveWindow;
    private final MessageAssembler assembler;
    private final GrpcCall<?, ?> call;

    /** Set once, by the reader. */
    private volatile boolean remoteClosed;

    /** Made when the first change has to wait for the writer's lock; most streams need none. */
    private volatile @Nullable StreamChanges changes;

    /** The handler, until it was told the call's end, and the sending half: the call counts until both are over. */
    @SuppressWarnings("UnusedVariable") // OPEN_PARTS reads it
    private volatile int openParts = 2;

    // Written under the writer's lock; the volatile ones are read anywhere.

    /** The send window less its initial size, in bytes; below zero when bytes were sent. */
    private volatile long sendCredit;

    private volatile boolean sendClosed;
    private volatile @Nullable Thread parked;
    private boolean headersSent;

    /** Made when the client's window is shut for the first time. */
    private volatile @Nullable ReadingPace pace;

    private boolean inMessage;

    /** A stream that carries the call that {@code opening} makes. */
    GrpcStream(int id, GrpcConnection connection, CallOpening<?, ?> opening) {
        this.id = id;
        this.connection = connection;
        this.writer = connection.writer();
        ConnectionSettings settings = connection.settings();
        this.receiveWindow = new ReceiveWindow(settings.streamWindow());
        this.assembler = new MessageAssembler(
                connection.pool(), connection.sender(), opening.placement(), settings.maxMessageSize(), this);
        this.call = opening.open(this);
    }

    int id() {
        return id;
    }

    /** The same number as a key. */
    Integer key() {
        return id;
    }

    GrpcCall<?, ?> call() {
        return call;
    }

    /** The connection that carries this stream. */
    GrpcConnection connection() {
        return connection;
    }

    // Called by the reader.

    /** The connection knows the stream now. */
    void opened() {
        call.watchDeadline();
    }

    /** A DATA frame's payload, of which the last {@code padding} bytes and its length byte mean nothing. */
    void data(FrameReader in, int payload, int padding) throws IOException {
        if (!receiveWindow.received(payload, padding)) {
            in.skip(payload);
            reset(Http2Error.FLOW_CONTROL_ERROR);
            return;
        }
        call.received(payload);
        assembler.accept(in, payload);
    }

    /** The client will send nothing more; whether the call is to be run now, for which the caller has to find a thread. */
    boolean endOfRequest() {
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
    void lost(Status why) {
        remoteClosed = true;
        changes().end(writer, w -> w.endStream(this));
        over(why);
    }

    /** The stream is against HTTP/2's rules and ends without a response. */
    void reset(Http2Error error) {
        remoteClosed = true;
        changes().end(writer, w -> {
            if (!sendClosed) {
                w.frames().reset(id, error);
                w.endStream(this);
            }
        });
        connection.abandoned().noteEndedEarly();
        over(Status.CANCELLED.withDescription("the client broke the rules of HTTP/2: " + error));
    }

    /** The client lets more be sent. */
    void growSendWindow(int increment) {
        changes().grow(writer, increment);
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
    void abort(Status status) {
        connection.abandoned().noteEndedEarly();
        changes().end(writer, w -> appendAbort(w, status));
        over(status);
    }

    /** Ends the call when its client reads too slowly, and others find no memory. Any thread. */
    void endIfReadTooSlowly() {
        ReadingPace known = pace;
        if (known != null && known.isTooSlow()) {
            abort(Status.UNAVAILABLE.withDescription(
                    "the response was read too slowly while memory was short for others; try again later"));
        }
    }

    /** A part of a message has to wait for the client. Under the writer's lock. */
    void waitsForClient() {
        ReadingPace known = pace;
        if (known == null) {
            known = new ReadingPace();
            pace = known;
        }
        known.begin();
    }

    /** {@code byteCount} bytes of a message are sent, and {@code left} are not. Under the writer's lock. */
    void sent(long byteCount, long left) {
        ReadingPace known = pace;
        if (known == null) {
            return;
        }
        if (left > 0) {
            known.addTaken(byteCount);
        } else {
            known.end();
        }
    }

    private void appendAbort(FrameWriter w, Status status) throws IOException {
        if (sendClosed) {
            return;
        }
        if (inMessage) {
            w.frames().reset(id, Http2Error.CANCEL);
        } else {
            Metadata none = new Metadata();
            byte[] block =
                    headersSent ? HeaderEncoder.trailers(status, none) : HeaderEncoder.trailersOnly(status, none);
            w.frames().headers(id, block, true);
        }
        if (!remoteClosed && !inMessage) {
            w.frames().reset(id, Http2Error.NO_ERROR);
        }
        w.endStream(this);
    }

    private void over(Status why) {
        assembler.close();
        call.cancel(why);
        connection.forget(this);
    }

    private void forgetWhenOver() {
        if (remoteClosed && sendClosed) {
            connection.forget(this);
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
    boolean send(byte[] headers, @Nullable OutboundMessage message, byte[] trailers) {
        boolean sent = writer.send(this, headers, message, trailers);
        if (trailers.length > 0) {
            if (!remoteClosed) {
                assembler.close();
                connection.abandoned().noteEndedEarly();
                connection.forget(this);
            }
            forgetWhenOver();
        }
        return sent;
    }

    /** The handler has consumed a message of {@code byteSize} bytes, prefix included. */
    void messageConsumed(long byteSize) {
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
    void callEnded() {
        endPart();
    }

    private void endPart() {
        if (OPEN_PARTS.decrementAndGet(this) == 0) {
            connection.callEnded();
        }
    }

    /** Whether a message could be sent now without waiting. */
    boolean isReady() {
        return !sendClosed && sendWindow() > 0 && writer.isReady();
    }

    /** Whether that many bytes fit into the client's windows as they are. */
    boolean hasRoomFor(long byteSize) {
        return byteSize <= sendWindow() && byteSize <= writer.connectionWindow();
    }

    private void announce(int increment) {
        if (increment > 0 && !remoteClosed && !sendClosed) {
            changes().announce(writer, increment);
        }
    }

    // Called by the writer, under its lock.

    /** The end of the response is about to be written. */
    void beforeResponse() {
        connection.lentReader().beforeResponse(call);
    }

    void applyGrowth(FrameWriter w, long increment) throws IOException {
        moveSendWindow(increment);
        if (sendWindow() > Http2.LARGEST_WINDOW_SIZE && !sendClosed) {
            w.frames().reset(id, Http2Error.FLOW_CONTROL_ERROR);
            w.endStream(this);
        }
    }

    void applyAnnouncement(FrameWriter w, int increment) throws IOException {
        if (!sendClosed) {
            receiveWindow.told(increment);
            w.frames().windowUpdate(id, increment);
        }
    }

    /** Whether nothing more can be sent. Any thread. */
    boolean sendClosed() {
        return sendClosed;
    }

    void closeSend() {
        if (!sendClosed) {
            sendClosed = true;
            endPart();
        }
    }

    /** Whether the client's half of the stream is open, so that it must be told to stop. */
    boolean remoteOpen() {
        return !remoteClosed;
    }

    /** Bytes that may be sent on the stream; negative when the client has made its windows smaller. Any thread. */
    long sendWindow() {
        return writer.initialWindow() + sendCredit;
    }

    /** Changes the window; may make it negative. */
    void moveSendWindow(long delta) {
        long moved = sendCredit + delta;
        sendCredit = moved;
        if (delta > 0) {
            wakeToSend();
        }
    }

    /** Lets the call that waits for the window look again, if it may send. */
    void wakeToSend() {
        if (sendWindow() > 0) {
            wake();
        }
    }

    void headersSent() {
        headersSent = true;
    }

    void inMessage(boolean now) {
        inMessage = now;
    }

    /** The calling thread is about to wait for the client: where it reads the connection, another goes on. */
    void beforeWaiting() {
        connection.lentReader().takeBack(call);
    }

    void park(Thread thread) {
        parked = thread;
    }

    boolean isParked() {
        return parked != null;
    }

    /** Lets the call that waits for the window look again. */
    void wake() {
        Thread thread = parked;
        if (thread != null) {
            parked = null;
            LockSupport.unpark(thread);
        }
        call.windowOpened();
    }
}
