package gatun.grpc.connection;

import gatun.memory.BufferPool;
import io.grpc.Status;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.webserver.spi.ServerConnection;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's connection. Its reading thread runs {@link #handle} and waits for the client only: what handlers do, and
 * what has to be written, is other threads' work.
 *
 * <p>Ends in one of three ways: the client leaves; the client breaks the rules, and gets GOAWAY; or the server stops, says
 * GOAWAY, and lets calls that run finish. Calls that still run when the connection is gone are cancelled.
 */
final class GrpcConnection implements ServerConnection {
    private static final Logger LOG = LoggerFactory.getLogger(GrpcConnection.class);

    /** How long a client may take to hang up after it was told that the connection is over. */
    private static final Duration LINGER = Duration.ofSeconds(2);

    /** The PING that asks whether the client has seen the first GOAWAY. */
    private static final long DRAIN_PING = 0x676174756e_00_00_01L;

    private final ConnectionSettings settings;
    private final BufferPool pool;
    private final CallAdmission admission;
    private final CallServices services;
    private final IoBuffers buffers;
    private final Transport transport;
    private final FrameReader reader;
    private final FrameWriter writer;
    private final HeaderBlockReader headerBlocks;
    private final ClientSettings clientSettings;
    private final FloodGuard floods = new FloodGuard();
    private final ByteBuffer readBuffer;
    private final ConcurrentHashMap<Integer, GrpcStream> streams = new ConcurrentHashMap<>();

    /** Calls whose handler has not been told its end, those whose stream is gone included. */
    private final AtomicInteger liveCalls = new AtomicInteger();

    // The reading thread's.
    private int lastStreamId;
    private int windowLeft;
    private int windowOwed;

    private volatile long lastActiveNanos = System.nanoTime();
    private volatile boolean draining;
    private volatile boolean refusing;
    private volatile boolean ended;

    GrpcConnection(
            ConnectionSettings settings,
            BufferPool pool,
            CallAdmission admission,
            CallServices services,
            IoBuffers buffers,
            Transport transport) {
        this.settings = settings;
        this.pool = pool;
        this.admission = admission;
        this.services = services;
        this.buffers = buffers;
        this.transport = transport;
        this.readBuffer = buffers.take();
        this.reader = new FrameReader(transport, readBuffer);
        this.writer = new FrameWriter(transport, buffers.take(), services.threads(), this::writeFailed);
        this.headerBlocks = new HeaderBlockReader(reader, settings.maxMetadataSize());
        this.clientSettings = new ClientSettings(reader, writer);
        this.windowLeft = settings.connectionWindow();
    }

    FrameWriter writer() {
        return writer;
    }

    BufferPool pool() {
        return pool;
    }

    ConnectionSettings settings() {
        return settings;
    }

    @Override
    public void handle(Limit limit) {
        try {
            greet();
            readPreface();
            while (reader.next()) {
                dispatch();
            }
        } catch (ConnectionError e) {
            LOG.debug("a client broke HTTP/2: {}", e.getMessage());
            int last = lastStreamId;
            writer.finish(
                    w -> appendGoAway(w, last, e.error(), String.valueOf(e.getMessage())), transport::shutdownOutput);
            linger();
        } catch (IOException e) {
            LOG.trace("a client left", e);
        } finally {
            end();
        }
    }

    private void greet() {
        writer.control(w -> {
            int[] values = {
                Http2.SETTINGS_MAX_CONCURRENT_STREAMS, settings.maxConcurrentCalls(),
                Http2.SETTINGS_INITIAL_WINDOW_SIZE, settings.streamWindow(),
                Http2.SETTINGS_MAX_FRAME_SIZE, settings.maxFrameSize(),
                Http2.SETTINGS_MAX_HEADER_LIST_SIZE, settings.maxMetadataSize()
            };
            ByteBuffer payload = ByteBuffer.allocate(values.length / 2 * ClientSettings.ENTRY_SIZE);
            for (int i = 0; i < values.length; i += 2) {
                payload.putShort((short) values[i]).putInt(values[i + 1]);
            }
            w.appendFrameHeader(Http2.SETTINGS, payload.capacity(), 0, 0);
            w.appendBytes(payload.array());
            int increment = settings.connectionWindow() - Http2.DEFAULT_WINDOW_SIZE;
            if (increment > 0) {
                w.appendWindowUpdate(0, increment);
            }
        });
    }

    private void readPreface() throws IOException {
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

    private void dispatch() throws IOException {
        lastActiveNanos = System.nanoTime();
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
                clientSettings.read(streams.values());
            }
            case Http2.PING -> ping();
            case Http2.WINDOW_UPDATE -> windowUpdate();
            case Http2.PUSH_PROMISE, Http2.CONTINUATION ->
                throw new ConnectionError(
                        Http2Error.PROTOCOL_ERROR, "a frame of type " + reader.type() + " where none may be");
            default -> {
                // PRIORITY is obsolete, a client's GOAWAY changes nothing for it, and unknown types must be passed
                // over.
                floods.controlFrame();
                reader.skip(reader.length());
            }
        }
    }

    private void data() throws IOException {
        int length = reader.length();
        int padding = 0;
        if (reader.streamId() == 0) {
            throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "DATA on stream 0");
        }
        if (reader.has(Http2.FLAG_PADDED)) {
            requireLength(1, length >= 1);
            padding = 1 + reader.readByte();
            if (padding > length) {
                throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "a DATA frame's padding is longer than the frame");
            }
        }
        if (length == 0) {
            floods.controlFrame();
        }
        takeFromWindow(length);
        GrpcStream stream = streams.get(reader.streamId());
        boolean last = reader.has(Http2.FLAG_END_STREAM);
        int payload = length - padding;
        if (stream == null) {
            requireOpened("DATA");
            reader.skip(payload);
        } else if (!stream.remoteOpen()) {
            reader.skip(payload);
            stream.reset(Http2Error.STREAM_CLOSED);
        } else {
            stream.data(reader, payload, padding);
        }
        reader.skip(Math.max(0, padding - 1));
        if (stream != null && last) {
            stream.endOfRequest();
        }
    }

    /** The connection's window is given back at once: what a stream may keep waiting is its own window's matter. */
    private void takeFromWindow(int length) {
        windowLeft -= length;
        if (windowLeft < 0) {
            throw new ConnectionError(Http2Error.FLOW_CONTROL_ERROR, "the connection's window was exceeded");
        }
        windowOwed += length;
        if (windowOwed >= settings.connectionWindow() / 2) {
            int increment = windowOwed;
            windowOwed = 0;
            windowLeft += increment;
            writer.control(w -> w.appendWindowUpdate(0, increment));
        }
    }

    private void headers() throws IOException {
        int id = reader.streamId();
        boolean last = reader.has(Http2.FLAG_END_STREAM);
        if (id % 2 == 0) {
            throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "HEADERS on stream " + id + ", which is no client's");
        }
        if (id <= lastStreamId) {
            headerBlocks.pass();
            GrpcStream stream = streams.get(id);
            if (stream == null) {
                return;
            }
            if (last) {
                stream.endOfRequest();
            } else {
                stream.reset(Http2Error.PROTOCOL_ERROR);
            }
            return;
        }
        lastStreamId = id;
        if (refusing || liveCalls.get() >= settings.maxConcurrentCalls()) {
            headerBlocks.pass();
            floods.reset();
            writer.control(w -> w.appendReset(id, Http2Error.REFUSED_STREAM));
            return;
        }
        open(id, last);
    }

    private void open(int id, boolean last) throws IOException {
        try {
            CallOpening<?, ?> opening = admission.admit(headerBlocks.read(), services);
            liveCalls.incrementAndGet();
            GrpcStream stream = new GrpcStream(id, this, clientSettings.initialWindow(), opening);
            streams.put(id, stream);
            stream.opened();
            if (last) {
                stream.endOfRequest();
            }
        } catch (HeaderDecoder.MalformedHeaders e) {
            LOG.debug("malformed headers: {}", e.getMessage());
            writer.control(w -> w.appendReset(id, Http2Error.PROTOCOL_ERROR));
        } catch (HeaderDecoder.RefusedHeaders e) {
            Status status = e.tooLarge() ? Status.RESOURCE_EXHAUSTED : Status.INVALID_ARGUMENT;
            refuse(id, last, CallAdmission.answer(status, String.valueOf(e.getMessage())));
        } catch (CallAdmission.RefusedCall e) {
            refuse(id, last, e.answer());
        }
    }

    private void refuse(int id, boolean last, byte[] answer) {
        writer.control(w -> {
            w.appendHeaders(id, answer, true);
            if (!last) {
                w.appendReset(id, Http2Error.NO_ERROR);
            }
        });
    }

    private void reset() throws IOException {
        requireLength(4, reader.length() == 4);
        int code = reader.readInt();
        requireOpened("RST_STREAM");
        GrpcStream stream = streams.get(reader.streamId());
        if (stream != null) {
            floods.reset();
            stream.lost(Status.CANCELLED.withDescription("the client cancelled the call with HTTP/2 code " + code));
        }
    }

    private void ping() throws IOException {
        requireLength(8, reader.length() == 8 && reader.streamId() == 0);
        floods.controlFrame();
        long data = reader.readLong();
        if (!reader.has(Http2.FLAG_ACK)) {
            writer.control(w -> {
                w.appendFrameHeader(Http2.PING, 8, Http2.FLAG_ACK, 0);
                w.appendInt((int) (data >>> Integer.SIZE));
                w.appendInt((int) data);
            });
        } else if (draining && data == DRAIN_PING) {
            refusing = true;
            sendGoAway(lastStreamId, Http2Error.NO_ERROR, "the server is stopping");
            finishWhenDrained();
        }
    }

    private void windowUpdate() throws IOException {
        requireLength(4, reader.length() == 4);
        int increment = reader.readInt() & Integer.MAX_VALUE;
        int id = reader.streamId();
        if (id == 0) {
            if (increment == 0) {
                throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "WINDOW_UPDATE of 0 on the connection");
            }
            int last = lastStreamId;
            writer.control(w -> growConnectionWindow(w, increment, last));
            return;
        }
        requireOpened("WINDOW_UPDATE");
        GrpcStream stream = streams.get(id);
        if (stream == null) {
            return;
        }
        if (increment == 0) {
            stream.reset(Http2Error.PROTOCOL_ERROR);
            return;
        }
        writer.control(w -> {
            stream.moveSendWindow(increment);
            if (stream.sendWindow() > Http2.LARGEST_WINDOW_SIZE && !stream.sendClosed()) {
                w.appendReset(id, Http2Error.FLOW_CONTROL_ERROR);
                w.endStream(stream);
            }
        });
    }

    private void growConnectionWindow(FrameWriter w, int increment, int last) throws IOException {
        boolean wasShut = w.connectionWindow() <= 0;
        if (!w.growConnectionWindow(increment)) {
            appendGoAway(
                    w, last, Http2Error.FLOW_CONTROL_ERROR, "the connection's window is larger than HTTP/2 allows");
            w.finish(same -> {}, this::hangUp);
        } else if (wasShut) {
            streams.values().forEach(GrpcStream::wake);
        }
    }

    private void requireLength(int expected, boolean holds) {
        if (!holds) {
            throw new ConnectionError(
                    Http2Error.FRAME_SIZE_ERROR,
                    "a frame of type " + reader.type() + " has " + reader.length() + " bytes, not " + expected
                            + ", or the wrong stream");
        }
    }

    /** A frame for a stream that is over is late and passed over; one for a stream that never was is wrong. */
    private void requireOpened(String frame) {
        int id = reader.streamId();
        if (id == 0 || id > lastStreamId) {
            throw new ConnectionError(
                    Http2Error.PROTOCOL_ERROR, frame + " on stream " + id + ", which was never opened");
        }
    }

    // What other threads call.

    /** The stream is over; its late frames are passed over from now on. */
    void forget(GrpcStream stream) {
        streams.remove(stream.id(), stream);
        finishWhenDrained();
    }

    /** A call's handler was told its end. */
    void callEnded() {
        lastActiveNanos = System.nanoTime();
        liveCalls.decrementAndGet();
        finishWhenDrained();
    }

    @Override
    public Duration idleTime() {
        long now = System.nanoTime();
        long idle = liveCalls.get() == 0 && streams.isEmpty() ? now - lastActiveNanos : 0;
        return Duration.ofNanos(Math.max(idle, writer.stalledNanos(now)));
    }

    /** Stops: with {@code interrupt} at once, otherwise when the calls that run are done. */
    @Override
    public void close(boolean interrupt) {
        if (interrupt || writer.stalledNanos(System.nanoTime()) > LINGER.toNanos()) {
            transport.close();
            return;
        }
        if (draining) {
            return;
        }
        draining = true;
        // A client may be opening streams just now: it first hears that it should not, and the PING tells when it has.
        sendGoAway(Http2.LARGEST_STREAM_ID, Http2Error.NO_ERROR, "the server is stopping");
        writer.control(w -> {
            w.appendFrameHeader(Http2.PING, 8, 0, 0);
            w.appendInt((int) (DRAIN_PING >>> Integer.SIZE));
            w.appendInt((int) DRAIN_PING);
        });
    }

    private void finishWhenDrained() {
        if (refusing && !ended && liveCalls.get() == 0 && streams.isEmpty()) {
            writer.finish(w -> {}, this::hangUp);
        }
    }

    private void sendGoAway(int lastId, Http2Error error, String text) {
        writer.control(w -> appendGoAway(w, lastId, error, text));
    }

    private static void appendGoAway(FrameWriter w, int lastId, Http2Error error, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        w.appendFrameHeader(Http2.GOAWAY, 8 + bytes.length, 0, 0);
        w.appendInt(lastId);
        w.appendInt(error.code());
        w.appendBytes(bytes);
    }

    /** All is said: the client hangs up, or is hung up on. */
    private void hangUp() {
        transport.shutdownOutput();
        closeAfterLinger();
    }

    /** Waits for the client to hang up, so that the end of what was written reaches it. */
    private void linger() {
        closeAfterLinger();
        try {
            reader.discardAll();
        } catch (IOException e) {
            LOG.trace("a client left", e);
        }
    }

    private void closeAfterLinger() {
        services.timer().schedule(transport::close, LINGER.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void writeFailed(IOException e) {
        LOG.trace("a client does not read any more", e);
        transport.close();
    }

    private void end() {
        ended = true;
        transport.close();
        Status gone = Status.CANCELLED.withDescription("the client's connection is gone");
        List<GrpcStream> open = new ArrayList<>(streams.values());
        ByteBuffer writeBuffer = writer.close();
        open.forEach(stream -> stream.lost(gone));
        buffers.give(writeBuffer);
        buffers.give(readBuffer);
    }
}
