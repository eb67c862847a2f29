// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.calls.CallAdmission;
import gatun.grpc.calls.CallAdmission.CallOpening;
import gatun.grpc.connection.ClientSettings.FloodGuard;
import gatun.grpc.connection.ClientSettings.FloodGuard.PingStrikes;
import gatun.grpc.connection.ConnectionStreams.ConnectionWindow;
import gatun.grpc.frames.FrameReader;
import gatun.grpc.frames.FrameWriter;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.headers.HeaderBlockReader;
import gatun.grpc.headers.HeaderBlockReader.RequestHead;
import gatun.grpc.headers.HeaderDecoder;
import gatun.grpc.streams.GrpcStream;
import gatun.grpc.streams.StreamCall;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.logging.AccessEntry;
import io.grpc.Status;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does what a client's frames ask for, once checked. Used by the reading thread, but for the writer's part. */
final class FrameHandler {
    private static final Logger LOG = LoggerFactory.getLogger(FrameHandler.class);

    /** A WINDOW_UPDATE that lets fewer bytes be sent than it costs serves hardly anything but a flood. */
    private static final int SMALL_INCREMENT = 16;

    private final GrpcConnection connection;
    private final ConnectionSettings settings;
    private final CallAdmission admission;
    private final FrameReader reader;
    private final FrameWriter writer;
    private final ConnectionStreams streams;
    private final ConnectionEnd end;
    private final HeaderBlockReader headerBlocks;
    private final ClientSettings clientSettings;
    private final ConnectionWindow window;
    private final FloodGuard floods = new FloodGuard(System::nanoTime);
    private final PingStrikes pingStrikes;

    /** The growth of the connection's send window that the writer does not know of yet. */
    private final AtomicLong grownWindow = new AtomicLong();

    private final FrameWriter.Control windowGrowth = this::growWindow;
    private @Nullable CallOpening<?, ?> lastOpening;

    /** The call that the present frame has completed, and nobody runs yet. */
    private @Nullable StreamCall ready;

    private volatile long lastReadNanos = System.nanoTime();

    /** Handles frames; {@code headerBlockLimit} begins to limit the time of a header block, its result ends that. */
    FrameHandler(
            GrpcConnection connection,
            CallAdmission admission,
            FrameReader reader,
            FrameWriter writer,
            ConnectionStreams streams,
            ConnectionEnd end,
            Supplier<Runnable> headerBlockLimit) {
        this.connection = connection;
        this.settings = connection.settings();
        this.admission = admission;
        this.reader = reader;
        this.writer = writer;
        this.streams = streams;
        this.end = end;
        this.headerBlocks = new HeaderBlockReader(reader, settings.maxMetadataSize(), headerBlockLimit);
        this.window = new ConnectionWindow(writer, settings.connectionWindow());
        this.clientSettings = new ClientSettings(reader, writer, end, floods, streams.all());
        this.pingStrikes = new PingStrikes(settings.keepalive(), System::nanoTime);
    }

    /** When the last frame came, as a reading of {@link System#nanoTime}. Any thread. */
    long lastReadNanos() {
        return lastReadNanos;
    }

    void greet() {
        byte[] payload = ClientSettings.encode(
                Http2.SETTINGS_MAX_CONCURRENT_STREAMS, settings.maxConcurrentCalls(),
                Http2.SETTINGS_INITIAL_WINDOW_SIZE, settings.streamWindow(),
                Http2.SETTINGS_MAX_FRAME_SIZE, settings.maxFrameSize(),
                Http2.SETTINGS_MAX_HEADER_LIST_SIZE, settings.maxMetadataSize());
        writer.control(w -> {
            w.frames().settings(payload);
            window.open(w);
        });
    }

    void readPreface() throws IOException {
        byte[] expected = Http2.preface();
        byte[] preface = new byte[expected.length];
        reader.readInto(preface, 0, preface.length);
        if (!Arrays.equals(preface, expected)) {
            throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "the connection does not begin with HTTP/2's preface");
        }
        if (!reader.next()) {
            return;
        }
        if (reader.type() != Http2.SETTINGS) {
            throw new ConnectionError(
                    Http2Error.PROTOCOL_ERROR, "the first frame is of type " + reader.type() + " and must be SETTINGS");
        }
        dispatch();
    }

    void dispatch() throws IOException {
        lastReadNanos = System.nanoTime();
        if (reader.length() > settings.maxFrameSize()) {
            throw new ConnectionError(
                    Http2Error.FRAME_SIZE_ERROR,
                    "a frame of " + reader.length() + " bytes exceeds the limit of " + settings.maxFrameSize());
        }
        switch (reader.type()) {
            case Http2.DATA -> data();
            case Http2.HEADERS -> headers();
            case Http2.RST_STREAM -> reset();
            case Http2.SETTINGS -> {
                floods.controlFrame();
                clientSettings.read();
            }
            case Http2.PING -> ping();
            case Http2.WINDOW_UPDATE -> windowUpdate();
            case Http2.PUSH_PROMISE, Http2.CONTINUATION ->
                throw new ConnectionError(
                        Http2Error.PROTOCOL_ERROR, "a frame of type " + reader.type() + " where none may be");
            default -> passOver();
        }
        connection.abandoned().requireWithin();
    }

    /** PRIORITY is obsolete, a client's GOAWAY changes nothing here, and unknown frames are ignored. */
    private void passOver() throws IOException {
        floods.controlFrame();
        if (reader.type() == Http2.GOAWAY) {
            reader.requireSize(reader.length() >= Long.BYTES);
            reader.requireConnection();
        } else if (reader.type() == Http2.PRIORITY) {
            reader.requireSize(reader.length() == HeaderBlockReader.PRIORITY_SIZE);
            reader.requireStream();
        }
        reader.skip(reader.length());
    }

    private void data() throws IOException {
        int length = reader.length();
        int padding = 0;
        requireOpened("DATA");
        if (reader.has(Http2.FLAG_PADDED)) {
            reader.requireSize(length >= 1);
            padding = 1 + reader.readByte();
            if (padding > length) {
                throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "a DATA frame's padding is longer than the frame");
            }
        }
        window.received(length);
        GrpcStream stream = streams.get(reader.streamId());
        int payload = length - padding;
        if (payload < OutboundMessage.PREFIX_SIZE) {
            floods.controlFrame();
        }
        boolean last = reader.has(Http2.FLAG_END_STREAM);
        if (stream == null) {
            reader.skip(payload);
        } else if (stream.remoteOpen()) {
            stream.data(reader, payload, padding);
        } else {
            reader.skip(payload);
            reset(stream, Http2Error.STREAM_CLOSED);
        }
        reader.skip(Math.max(0, padding - 1));
        if (stream != null && last) {
            endRequest(stream);
        }
    }

    private void headers() throws IOException {
        int id = reader.streamId();
        boolean last = reader.has(Http2.FLAG_END_STREAM);
        if (id % 2 == 0) {
            throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "HEADERS on stream " + id + ", which is no client's");
        }
        if (id <= streams.lastId()) {
            trailers(id, last);
            return;
        }
        // Before the question whether streams are refused, so that the connection does not end between answer and call.
        streams.beginOpening(id);
        if (end.refusing() || streams.liveCalls() >= settings.maxConcurrentCalls()) {
            headerBlocks.pass();
            connection.abandoned().add(WorkBudgets.REFUSAL_NANOS);
            writer.control(w -> w.frames().reset(id, Http2Error.REFUSED_STREAM));
        } else {
            open(id, last);
        }
        streams.endOpening();
        end.finishWhenIdle();
    }

    private void trailers(int id, boolean last) throws IOException {
        headerBlocks.pass();
        GrpcStream stream = streams.get(id);
        if (stream == null) {
            floods.controlFrame();
        } else if (!stream.remoteOpen()) {
            reset(stream, Http2Error.STREAM_CLOSED);
        } else if (last) {
            endRequest(stream);
        } else {
            reset(stream, Http2Error.PROTOCOL_ERROR);
        }
    }

    private void open(int id, boolean last) throws IOException {
        try {
            CallOpening<?, ?> opening = admit(headerBlocks.read());
            streams.beginCall();
            GrpcStream stream = new GrpcStream(id, connection, opening);
            streams.add(stream);
            stream.opened();
            if (last) {
                endRequest(stream);
            }
        } catch (HeaderDecoder.MalformedHeaders e) {
            LOG.debug("malformed headers: {}", e.getMessage());
            writer.control(w -> w.frames().reset(id, Http2Error.PROTOCOL_ERROR));
        } catch (HeaderDecoder.RefusedHeaders e) {
            Status status = e.tooLarge() ? Status.RESOURCE_EXHAUSTED : Status.INVALID_ARGUMENT;
            refuse(id, last, CallAdmission.answer(status, String.valueOf(e.getMessage())));
        } catch (CallAdmission.RefusedCall e) {
            refuse(id, last, e.answer());
        }
    }

    private CallOpening<?, ?> admit(RequestHead head) throws CallAdmission.RefusedCall {
        CallOpening<?, ?> last = lastOpening;
        lastOpening = null; // its head is not held beside a newer one that is refused
        try {
            CallOpening<?, ?> opening = admission.admit(head, connection.services(), last);
            lastOpening = opening;
            return opening;
        } catch (CallAdmission.RefusedCall e) {
            AccessEntry entry = connection.services().accessEntry(head);
            if (entry != null) {
                entry.end(e.code().name());
            }
            throw e;
        }
    }

    private void refuse(int id, boolean last, byte[] answer) {
        if (!last) {
            connection.abandoned().noteEndedEarly();
        }
        writer.control(w -> {
            w.frames().headers(id, answer, true);
            if (!last) {
                w.frames().reset(id, Http2Error.NO_ERROR);
            }
        });
    }

    private void endRequest(GrpcStream stream) {
        if (stream.endOfRequest()) {
            ready = stream.call();
        }
    }

    boolean hasReady() {
        return ready != null;
    }

    /** The call that is to run since the last frame; null for none. The caller finds a thread for it. */
    @Nullable
    StreamCall takeReady() {
        StreamCall call = ready;
        ready = null;
        return call;
    }

    private void reset() throws IOException {
        reader.requireSize(reader.length() == Integer.BYTES);
        int code = reader.readInt();
        requireOpened("RST_STREAM");
        GrpcStream stream = streams.get(reader.streamId());
        if (stream != null) {
            if (ready != null && ready.stream() == stream) {
                ready.standBack();
                ready = null;
            }
            stream.lost(Status.CANCELLED.withDescription("the client cancelled the call with HTTP/2 code " + code));
        } else {
            connection.abandoned().addLateReset();
        }
    }

    private void ping() throws IOException {
        reader.requireSize(reader.length() == Long.BYTES);
        reader.requireConnection();
        floods.controlFrame();
        long data = reader.readLong();
        if (reader.has(Http2.FLAG_ACK)) {
            end.pingAnswered(data);
        } else {
            pingStrikes.ping(writer.dataSent(), streams.liveCalls() > 0);
            writer.control(w -> w.frames().ping(data, true));
        }
    }

    private void windowUpdate() throws IOException {
        reader.requireSize(reader.length() == Integer.BYTES);
        int increment = reader.readInt() & Integer.MAX_VALUE;
        int id = reader.streamId();
        if (increment < SMALL_INCREMENT) {
            floods.controlFrame();
        }
        if (id == 0) {
            if (increment == 0) {
                throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "WINDOW_UPDATE of 0 on the connection");
            }
            if (grownWindow.getAndAdd(increment) == 0) {
                writer.enqueue(windowGrowth);
            }
            return;
        }
        requireOpened("WINDOW_UPDATE");
        GrpcStream stream = streams.get(id);
        if (stream == null) {
            return;
        }
        if (increment == 0) {
            reset(stream, Http2Error.PROTOCOL_ERROR);
        } else {
            stream.growSendWindow(increment);
        }
    }

    /** A client can have calls reset by frames that must not be as well as by its own RST_STREAM: both are counted. */
    private void reset(GrpcStream stream, Http2Error error) {
        connection.abandoned().add(WorkBudgets.REFUSAL_NANOS);
        stream.reset(error);
    }

    private void growWindow(FrameWriter w) {
        long increment = grownWindow.getAndSet(0);
        boolean wasShut = w.connectionWindow() <= 0;
        if (!w.growConnectionWindow(increment)) {
            end.fail(w, Http2Error.FLOW_CONTROL_ERROR, "the connection's window exceeds what HTTP/2 allows");
        } else if (wasShut) {
            streams.forEach(GrpcStream::wake);
        }
    }

    /** A frame for a stream that is over is late and passed over; one for a stream that never was is wrong. */
    private void requireOpened(String frame) {
        int id = reader.streamId();
        if (id == 0 || id > streams.lastId()) {
            throw new ConnectionError(
                    Http2Error.PROTOCOL_ERROR, frame + " on stream " + id + ", which was never opened");
        }
    }
}
