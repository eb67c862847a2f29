// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.listener.ClientError;
import gatun.listener.ClientErrorException;
import gatun.listener.Transport;
import gatun.memory.buffers.BufferPool;
import gatun.memory.buffers.ReadingPace;
import gatun.memory.buffers.Sender;
import io.grpc.Grpc;
import io.grpc.Status;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.webserver.spi.ServerConnection;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's connection. Its reading thread runs {@link #handle} and waits for the client only: other threads run the
 * handlers and write. Calls that still run when the connection is gone are cancelled.
 */
final class GrpcConnection implements ServerConnection {
    private static final Logger LOG = LoggerFactory.getLogger(GrpcConnection.class);

    /** A WINDOW_UPDATE that lets fewer bytes be sent than it costs serves hardly anything but a flood. */
    private static final int SMALL_INCREMENT = 16;

    private final ConnectionSettings settings;
    private final BufferPool pool;
    private final Sender sender;
    private final CallAdmission admission;
    private final Transport transport;

    /** Those of the listener that are open; this is among them while it is handled. */
    private final Set<GrpcConnection> open;

    private final FrameReader reader;
    private final FrameWriter writer;
    private final HeaderBlockReader headerBlocks;
    private final ClientSettings clientSettings;
    private final ConnectionWindow window;
    private final ConnectionEnd end;
    private final ConnectionWatch watch;
    private final FloodGuard floods = new FloodGuard(System::nanoTime);
    private final PingStrikes pingStrikes;
    private final ConcurrentHashMap<Integer, GrpcStream> streams = new ConcurrentHashMap<>();

    /** Growth of the connection's send window, in bytes, that the writer has not taken yet. */
    private final AtomicLong grownWindow = new AtomicLong();

    private final FrameWriter.Control windowGrowth = this::growWindow;

    /**
     * Used by the reading thread only, once the connection is made: the connection's security becomes known with the
     * handshake.
     */
    private CallServices services;

    /** Whether frames may be written; the reading thread writes it. */
    private volatile boolean opened;

    /** Calls of which something is left: those whose stream is gone included, until the handler and the writer know. */
    private final AtomicInteger liveCalls = new AtomicInteger();

    /** Written by the reading thread. */
    private volatile int lastStreamId;

    /** Whether the reading thread, which alone writes it, may be about to add a call. */
    private volatile boolean opening;

    /** When the last frame came; the reading thread writes it. */
    private volatile long lastReadNanos = System.nanoTime();

    /** When the last call ended. */
    private volatile long lastEndedNanos = lastReadNanos;

    GrpcConnection(
            ConnectionSettings settings,
            BufferPool pool,
            CallAdmission admission,
            CallServices services,
            ConnectionBuffers buffers,
            Transport transport,
            Set<GrpcConnection> open) {
        this.settings = settings;
        this.pool = pool;
        this.sender = Sender.at(Objects.requireNonNull(services.attributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR)));
        this.admission = admission;
        this.services = services;
        this.transport = transport;
        this.open = open;
        this.reader = new FrameReader(transport, buffers);
        this.writer = new FrameWriter(
                transport, buffers, settings.keepalive().pings().timeout(), services.threads(), this::writeFailed);
        Duration patience = settings.keepalive().patience();
        this.headerBlocks = new HeaderBlockReader(reader, settings.maxMetadataSize(), () -> services.timer()
                .runUnlessCalledOff(patience, transport::close));
        this.window = new ConnectionWindow(writer, settings.connectionWindow());
        this.end = new ConnectionEnd(transport, writer, services.timer(), this::isDone, () -> lastStreamId);
        this.clientSettings = new ClientSettings(reader, writer, end, floods, streams.values());
        this.watch = new ConnectionWatch(
                settings.keepalive(),
                services.timer(),
                transport,
                writer,
                end,
                () -> liveCalls.get() > 0,
                () -> lastReadNanos);
        this.pingStrikes = new PingStrikes(settings.keepalive(), System::nanoTime);
    }

    FrameWriter writer() {
        return writer;
    }

    BufferPool pool() {
        return pool;
    }

    /**
     * Ends the stream that its client reads too slowly, when others find no memory: calls, or all of it. Any thread;
     * waits for nothing.
     */
    void endSlowReaders() {
        if (writer.stalledNanos(System.nanoTime()) > ReadingPace.PATIENCE.toNanos()) {
            end.giveUp("responses were read too slowly while memory was short for others");
            return;
        }
        streams.values().forEach(GrpcStream::endIfReadTooSlowly);
    }

    /** Who sends here, among all who share the buffer pool. */
    Sender sender() {
        return sender;
    }

    ConnectionSettings settings() {
        return settings;
    }

    @Override
    public void handle(Limit limit) {
        try {
            open.add(this);
            watch.begin();
            transport.open().ifPresent(session -> services = services.secured(session));
            opened = true;
            greet();
            readPreface();
            watch.greeted();
            while (reader.next()) {
                dispatch();
            }
            end.throwError();
        } catch (ConnectionError e) {
            end.fail(e, reader);
            end.throwError();
        } catch (IOException e) {
            end.throwError();
            throw opened
                    ? new ClientErrorException(ClientError.DISCONNECTED, "the client left", e)
                    : new ClientErrorException(ClientError.TLS, "the TLS handshake failed: " + e.getMessage(), e);
        } finally {
            close();
        }
    }

    private void greet() {
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
        if (payload < OutgoingMessage.PREFIX_SIZE) {
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
            stream.endOfRequest();
        }
    }

    private void headers() throws IOException {
        int id = reader.streamId();
        boolean last = reader.has(Http2.FLAG_END_STREAM);
        if (id % 2 == 0) {
            throw new ConnectionError(Http2Error.PROTOCOL_ERROR, "HEADERS on stream " + id + ", which is no client's");
        }
        if (id <= lastStreamId) {
            trailers(id, last);
            return;
        }
        lastStreamId = id;
        // Before the question whether streams are refused, so that the connection does not end between answer and call.
        opening = true;
        if (end.refusing() || liveCalls.get() >= settings.maxConcurrentCalls()) {
            headerBlocks.pass();
            floods.reset();
            writer.control(w -> w.frames().reset(id, Http2Error.REFUSED_STREAM));
        } else {
            open(id, last);
        }
        opening = false;
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
            stream.endOfRequest();
        } else {
            reset(stream, Http2Error.PROTOCOL_ERROR);
        }
    }

    private void open(int id, boolean last) throws IOException {
        try {
            CallOpening<?, ?> opening = admission.admit(headerBlocks.read(), services);
            liveCalls.incrementAndGet();
            GrpcStream stream = new GrpcStream(id, this, opening);
            streams.put(id, stream);
            stream.opened();
            if (last) {
                stream.endOfRequest();
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

    private void refuse(int id, boolean last, byte[] answer) {
        writer.control(w -> {
            w.frames().headers(id, answer, true);
            if (!last) {
                w.frames().reset(id, Http2Error.NO_ERROR);
            }
        });
    }

    private void reset() throws IOException {
        reader.requireSize(reader.length() == Integer.BYTES);
        int code = reader.readInt();
        requireOpened("RST_STREAM");
        GrpcStream stream = streams.get(reader.streamId());
        floods.reset();
        if (stream != null) {
            stream.lost(Status.CANCELLED.withDescription("the client cancelled the call with HTTP/2 code " + code));
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
            pingStrikes.ping(writer.dataSent(), liveCalls.get() > 0);
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
        floods.reset();
        stream.reset(error);
    }

    private void growWindow(FrameWriter w) {
        long increment = grownWindow.getAndSet(0);
        boolean wasShut = w.connectionWindow() <= 0;
        if (!w.growConnectionWindow(increment)) {
            end.fail(w, Http2Error.FLOW_CONTROL_ERROR, "the connection's window exceeds what HTTP/2 allows");
        } else if (wasShut) {
            streams.values().forEach(GrpcStream::wake);
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

    // Called by other threads.

    /** The stream is over; its late frames are passed over from now on. */
    void forget(GrpcStream stream) {
        streams.remove(stream.id(), stream);
        end.finishWhenIdle();
    }

    /** A call's handler was told its end. */
    void callEnded() {
        lastEndedNanos = System.nanoTime();
        liveCalls.decrementAndGet();
        end.finishWhenIdle();
    }

    private boolean isIdle() {
        return liveCalls.get() == 0 && streams.isEmpty();
    }

    private boolean isDone() {
        return !opening && isIdle();
    }

    @Override
    public Duration idleTime() {
        long now = System.nanoTime();
        long idle = isIdle() ? now - Math.max(lastReadNanos, lastEndedNanos) : 0;
        return Duration.ofNanos(Math.max(idle, writer.stalledNanos(now)));
    }

    /**
     * Asks the client to open its next calls on other connections; streams that it opens all the same are served. Any
     * thread.
     */
    void askToLeave(String why) {
        if (opened) {
            end.askToLeave(why);
        }
    }

    @Override
    public void close(boolean interrupt) {
        if (opened) {
            end.stop(interrupt);
        } else {
            transport.close();
        }
    }

    private void writeFailed(Throwable t) {
        if (t instanceof IOException) {
            LOG.trace("a client does not read any more", t);
        } else {
            LOG.error("a connection's frames cannot be written", t);
        }
        transport.close();
    }

    private void close() {
        open.remove(this);
        watch.close();
        transport.close();
        Status gone = Status.CANCELLED.withDescription("the client's connection is gone");
        List<GrpcStream> open = new ArrayList<>(streams.values());
        open.forEach(stream -> stream.lost(gone));
        writer.close();
        reader.release();
        transport.release();
    }
}
