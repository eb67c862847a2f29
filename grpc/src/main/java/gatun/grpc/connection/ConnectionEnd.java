// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.calls.CallServices.DeadlineTimer;
import gatun.grpc.frames.FrameReader;
import gatun.grpc.frames.FrameWriter;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.listener.ClientError;
import gatun.listener.ClientError.ClientErrorException;
import gatun.listener.Transport;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a connection: tells the client to open no more streams, refuses them once it has acknowledged a PING or a second
 * has passed, and hangs up after the last call. A client that breaks the rules is told why.
 */
final class ConnectionEnd {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionEnd.class);

    /** How long a client may take to hang up after it was told that the connection is over. */
    private static final Duration LINGER = Duration.ofSeconds(2);

    /** How long a client may take to acknowledge that it should open no more streams. */
    private static final Duration NOTICE = Duration.ofSeconds(1);

    /** The PING that asks whether the client has seen the first GOAWAY. */
    private static final long DRAIN_PING = 0x676174756e000001L;

    private static final String STOPPING = "the server is stopping";

    private final Transport transport;
    private final FrameWriter writer;
    private final DeadlineTimer timer;
    private final BooleanSupplier idle;
    private final IntSupplier lastStreamId;
    private final AtomicBoolean draining = new AtomicBoolean();

    /** Why streams will be refused; written before they are. */
    private volatile String reason = STOPPING;

    /** The client's error that ends the connection; null for none. */
    private volatile @Nullable ClientErrorException clientError;

    private final AtomicBoolean refusing = new AtomicBoolean();
    private final AtomicBoolean finishing = new AtomicBoolean();

    /** The reading thread changes {@code lastStreamId} before it asks whether streams are refused. */
    ConnectionEnd(
            Transport transport,
            FrameWriter writer,
            DeadlineTimer timer,
            BooleanSupplier idle,
            IntSupplier lastStreamId) {
        this.transport = transport;
        this.writer = writer;
        this.timer = timer;
        this.idle = idle;
        this.lastStreamId = lastStreamId;
    }

    boolean refusing() {
        return refusing.get();
    }

    /** The server stops, at once or when the calls that run are done. Any thread. */
    void stop(boolean atOnce) {
        if (atOnce || writer.stalledNanos(System.nanoTime()) > LINGER.toNanos()) {
            transport.close();
            return;
        }
        drain(STOPPING);
    }

    /** Asks the client to open no more streams here; those that it opens all the same are served. Any thread. */
    void askToLeave(String why) {
        if (!draining.get()) {
            writer.enqueue(w -> w.frames().goAway(Http2.LARGEST_STREAM_ID, Http2Error.NO_ERROR, why));
        }
    }

    /** Lets the calls that run end, refuses others and ends the connection then; the client hears why. Any thread. */
    void drain(String why) {
        if (!draining.compareAndSet(false, true)) {
            return;
        }
        reason = why;
        writer.enqueue(w -> {
            w.frames().goAway(Http2.LARGEST_STREAM_ID, Http2Error.NO_ERROR, why);
            w.frames().ping(DRAIN_PING, false);
        });
        timer.runAfter(NOTICE, this::refuse);
    }

    void pingAnswered(long data) {
        if (draining.get() && data == DRAIN_PING) {
            refuse();
        }
    }

    private void refuse() {
        if (refusing.compareAndSet(false, true)) {
            // Read after streams are refused, so that none can be served that the client believes refused.
            int last = lastStreamId.getAsInt();
            writer.enqueue(w -> w.frames().goAway(last, Http2Error.NO_ERROR, reason));
            finishWhenIdle();
        }
    }

    /** Ends the connection if the server stops and nothing is left to do. Any thread. */
    void finishWhenIdle() {
        // Streams are refused: an idle connection stays idle, and is ended once.
        if (refusing.get() && idle.getAsBoolean() && finishing.compareAndSet(false, true)) {
            writer.finish(w -> {}, this::hangUp);
        }
    }

    /** Tells the client its error and waits for it to hang up. Called by the reading thread, which ends then. */
    void fail(ConnectionError e, FrameReader reader) {
        int last = lastStreamId.getAsInt();
        note(e.error(), String.valueOf(e.getMessage()));
        writer.finish(w -> w.frames().goAway(last, e.error(), String.valueOf(e.getMessage())), this::hangUp);
        // If the last frames cannot be written, nobody else would end the connection.
        timer.runAfter(LINGER, transport::close);
        try {
            reader.discardAll();
        } catch (IOException left) {
            LOG.trace("a client left", left);
        }
    }

    /** The same for an error that only the writer sees. Under the writer's lock. */
    void fail(FrameWriter w, Http2Error error, String text) {
        note(error, text);
        int last = lastStreamId.getAsInt();
        w.finish(same -> same.frames().goAway(last, error, text), this::hangUp);
    }

    private void note(Http2Error error, String text) {
        clientError = new ClientErrorException(
                error == Http2Error.ENHANCE_YOUR_CALM ? ClientError.FLOOD : ClientError.MALFORMED, text);
    }

    /** The client does not do its part in time, and is hung up on now. Any thread. */
    void giveUp(String why) {
        clientError = new ClientErrorException(ClientError.TIMEOUT, why);
        transport.close();
    }

    void throwError() {
        ClientErrorException error = clientError;
        if (error != null) {
            throw error;
        }
    }

    private void hangUp() {
        transport.shutdownOutput();
        timer.runAfter(LINGER, transport::close);
    }
}
