// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.calls.CallAdmission;
import gatun.grpc.calls.CallServices;
import gatun.grpc.frames.FrameReader;
import gatun.grpc.frames.FrameReader.ConnectionBuffers;
import gatun.grpc.frames.FrameWriter;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.grpc.streams.GrpcStream;
import gatun.grpc.streams.GrpcStream.AbandonedCalls;
import gatun.grpc.streams.StreamCall;
import gatun.listener.ClientError;
import gatun.listener.ClientError.ClientErrorException;
import gatun.listener.ConnectionUse;
import gatun.listener.Transport;
import gatun.memory.buffers.BufferPool;
import gatun.memory.buffers.ClientQuotaKey;
import gatun.memory.buffers.ClientQuotaKey.SlowReaderDetector;
import gatun.runtime.limits.WorkBudgets.WorkBudget;
import io.grpc.Grpc;
import io.grpc.Status;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.webserver.spi.ServerConnection;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's connection. Its reading thread, first that of {@link #handle}, waits for the client or runs a call that
 * it is {@linkplain InlineCallRunner lent to}; other threads run handlers and write. Calls are cancelled when it is gone.
 */
final class GrpcConnection implements ServerConnection, GrpcStream.Host {
    private static final Logger LOG = LoggerFactory.getLogger(GrpcConnection.class);

    /** Every so many calls, checks that the client is still there: who only connects and leaves gets no runs. */
    private static final int FIRST_CALLS = 4;

    private final ConnectionSettings settings;
    private final BufferPool pool;
    private final ClientQuotaKey sender;
    private final Transport transport;

    /** Those of the listener that are open; this is among them while it is handled. */
    private final Set<GrpcConnection> open;

    private final WorkBudget budget;
    private final AbandonedCalls abandoned;
    private final SocketAddress peer;
    private final long sinceMillis = System.currentTimeMillis();
    private final FrameReader reader;
    private final FrameWriter writer;
    private final ConnectionStreams streams = new ConnectionStreams();
    private final ConnectionEnd end;
    private final ConnectionWatch watch;
    private final FrameHandler frames;
    private final InlineCallRunner lentReader;

    /** Completed when the connection has ended, by the last reading thread: with what it threw, if anything. */
    private final CompletableFuture<Optional<Throwable>> ended = new CompletableFuture<>();

    /** Used by the reading thread only: the connection's security is known after the handshake. */
    private CallServices services;

    /** Whether frames may be written; the reading thread writes it. */
    private volatile boolean opened;

    /** Whether TLS is spoken; the reading thread writes it. */
    private volatile boolean secured;

    GrpcConnection(
            ConnectionSettings settings,
            BufferPool pool,
            CallAdmission admission,
            CallServices services,
            ConnectionBuffers buffers,
            Transport transport,
            WorkBudget budget,
            Set<GrpcConnection> open) {
        this.settings = settings;
        this.pool = pool;
        this.peer = Objects.requireNonNull(services.attributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
        this.sender = Objects.requireNonNull(services.attributes().get(GrpcConnectionSelector.SENDER));
        this.services = services;
        this.transport = transport;
        this.budget = budget;
        this.abandoned = new AbandonedCalls(budget);
        this.open = open;
        this.reader = new FrameReader(transport, buffers);
        this.writer = new FrameWriter(
                transport, buffers, settings.keepalive().pings().timeout(), services.threads(), this::writeFailed);
        Duration patience = settings.keepalive().patience();
        this.end = new ConnectionEnd(transport, writer, services.timer(), streams::isDone, streams::lastId);
        this.frames = new FrameHandler(this, admission, reader, writer, streams, end, () -> services.timer()
                .runUnlessCalledOff(patience, transport::close));
        this.watch = new ConnectionWatch(
                settings.keepalive(),
                services.timer(),
                transport,
                writer,
                end,
                () -> streams.liveCalls() > 0,
                frames::lastReadNanos);
        this.lentReader = new InlineCallRunner(reader, streams, services.placement(), () -> this.services
                .threads()
                .newThread(() -> read(() -> {}))
                .start());
    }

    @Override
    public FrameWriter writer() {
        return writer;
    }

    @Override
    public BufferPool pool() {
        return pool;
    }

    /** Ends calls or streams of slow readers when memory runs out. Thread-safe; does not block. */
    void endSlowReaders() {
        if (writer.stalledNanos(System.nanoTime()) > SlowReaderDetector.PATIENCE.toNanos()) {
            end.giveUp("responses were read too slowly while memory was short for others");
            return;
        }
        streams.forEach(GrpcStream::endIfReadTooSlowly);
    }

    /** What it is used for now. For any thread. */
    ConnectionUse use() {
        return new ConnectionUse(
                ConnectionUse.peer(peer),
                secured,
                sinceMillis,
                streams.calls(),
                streams.liveCalls(),
                transport.transferred().in(),
                transport.transferred().out());
    }

    @Override
    public AbandonedCalls abandoned() {
        return abandoned;
    }

    @Override
    public ClientQuotaKey sender() {
        return sender;
    }

    /** The services that may be called here. For the reading thread. */
    CallServices services() {
        return services;
    }

    ConnectionSettings settings() {
        return settings;
    }

    @Override
    public int streamWindow() {
        return settings.streamWindow();
    }

    @Override
    public int maxMessageSize() {
        return settings.maxMessageSize();
    }

    /** What a reading thread does before it reads frames. */
    @FunctionalInterface
    private interface Beginning {
        void run() throws IOException;
    }

    @Override
    public void handle(Limit limit) {
        open.add(this);
        read(this::begin);
        Optional<Throwable> failure = ended.join();
        end.throwError();
        switch (failure.orElse(null)) {
            case null -> {}
            case IOException e ->
                throw opened
                        ? new ClientErrorException(ClientError.DISCONNECTED, "the client left", e)
                        : new ClientErrorException(ClientError.TLS, "the TLS handshake failed: " + e.getMessage(), e);
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case Throwable t -> throw new AssertionError("a reading thread may not throw this", t);
        }
    }

    private void begin() throws IOException {
        watch.begin();
        transport.open().ifPresent(session -> {
            services = services.secured(session);
            secured = true;
        });
        opened = true;
        if (reader.canLook() && !budget.awaitTurn(reader::hasEnded)) {
            throw new EOFException("the client left before it was its turn");
        }
        frames.greet();
        frames.readPreface();
        watch.greeted();
    }

    /** The work of a reading thread: until the connection ends, or another thread reads. */
    private void read(Beginning beginning) {
        Optional<Throwable> failure = Optional.empty();
        try {
            beginning.run();
            if (!readFrames()) {
                return;
            }
        } catch (ConnectionError e) {
            end.fail(e, reader);
        } catch (Throwable t) {
            failure = Optional.of(t);
        }
        try {
            close();
        } finally {
            ended.complete(failure);
        }
    }

    /** Reads and follows frames; false when another thread does since. */
    private boolean readFrames() throws IOException {
        while (reader.next()) {
            frames.dispatch();
            // C-core clients let more be sent in the same breath: that is no second call. What is reset does not run.
            while (frames.hasReady() && reader.isWindowUpdateOrResetNext() && reader.next()) {
                frames.dispatch();
            }
            if (frames.hasReady() && streams.calls() <= FIRST_CALLS && hasLeft()) {
                return true;
            }
            StreamCall ready = frames.takeReady();
            if (ready != null && !lentReader.run(ready)) {
                return false;
            }
        }
        return true;
    }

    /** Whether the client has closed the connection and sent nothing more before. Waits for nothing. */
    private boolean hasLeft() throws IOException {
        return reader.buffered() == 0
                && reader.canLook()
                && writer.whileNobodyWrites(reader::hasMore)
                && reader.buffered() == 0;
    }

    // Called by other threads.

    @Override
    public void forget(GrpcStream stream) {
        streams.forget(stream);
        end.finishWhenIdle();
    }

    @Override
    public void callEnded() {
        streams.endCall();
        end.finishWhenIdle();
    }

    @Override
    public void beforeResponse(StreamCall call) {
        lentReader.beforeResponse(call);
    }

    @Override
    public void beforeWaiting(StreamCall call) {
        lentReader.takeBack(call);
    }

    @Override
    public Duration idleTime() {
        long now = System.nanoTime();
        long idle = streams.isIdle() ? now - Math.max(frames.lastReadNanos(), streams.lastEndedNanos()) : 0;
        return Duration.ofNanos(Math.max(idle, writer.stalledNanos(now)));
    }

    /** Asks the client to call on other connections next; streams that it opens here are served. Thread-safe. */
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
        StreamCall ready = frames.takeReady();
        if (ready != null) {
            ready.standBack();
        }
        Status gone = Status.CANCELLED.withDescription("the client's connection is gone");
        new ArrayList<>(streams.all()).forEach(stream -> stream.lost(gone));
        writer.close();
        reader.release();
        transport.release();
    }
}
