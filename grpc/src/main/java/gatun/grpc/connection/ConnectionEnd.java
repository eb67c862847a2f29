package gatun.grpc.connection;

import java.io.IOException;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a connection comes to its end. When the server stops, the client first hears that it should open no more streams; a
 * PING tells when it has heard; then new streams are refused, and when the last call is done the connection ends. When the
 * client breaks the rules it hears why, and the connection ends.
 */
final class ConnectionEnd {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionEnd.class);

    /** How long a client may take to hang up after it was told that the connection is over. */
    private static final Duration LINGER = Duration.ofSeconds(2);

    /** The PING that asks whether the client has seen the first GOAWAY. */
    private static final long DRAIN_PING = 0x676174756e000001L;

    private static final String STOPPING = "the server is stopping";

    private final Transport transport;
    private final FrameWriter writer;
    private final DeadlineTimer timer;
    private final BooleanSupplier idle;

    private volatile boolean draining;
    private volatile boolean refusing;

    /** The end of a connection that has nothing to do when {@code idle} says so. */
    ConnectionEnd(Transport transport, FrameWriter writer, DeadlineTimer timer, BooleanSupplier idle) {
        this.transport = transport;
        this.writer = writer;
        this.timer = timer;
        this.idle = idle;
    }

    /** Whether new streams are refused. */
    boolean refusing() {
        return refusing;
    }

    /** The server stops, at once or when the calls that run are done. Any thread. */
    void stop(boolean atOnce) {
        if (atOnce || writer.stalledNanos(System.nanoTime()) > LINGER.toNanos()) {
            transport.close();
            return;
        }
        if (draining) {
            return;
        }
        draining = true;
        writer.enqueue(w -> {
            w.frames().goAway(Http2.LARGEST_STREAM_ID, Http2Error.NO_ERROR, STOPPING);
            w.frames().ping(DRAIN_PING, false);
        });
    }

    /** The client acknowledged a PING, having opened streams up to {@code lastStreamId}. The reading thread's. */
    void pingAnswered(long data, int lastStreamId) {
        if (draining && !refusing && data == DRAIN_PING) {
            refusing = true;
            writer.enqueue(w -> w.frames().goAway(lastStreamId, Http2Error.NO_ERROR, STOPPING));
            finishWhenIdle();
        }
    }

    /** Ends the connection if the server stops and nothing is left to do. Any thread. */
    void finishWhenIdle() {
        if (refusing && idle.getAsBoolean()) {
            writer.finish(w -> {}, this::hangUp);
        }
    }

    /** Tells the client what it did wrong and waits for it to hang up. The reading thread's, which is done then. */
    void fail(ConnectionError e, int lastStreamId, FrameReader reader) {
        LOG.debug("a client broke HTTP/2: {}", e.getMessage());
        writer.finish(w -> w.frames().goAway(lastStreamId, e.error(), String.valueOf(e.getMessage())), this::hangUp);
        // If what was said cannot be written, nobody else would end the connection.
        timer.runAfter(LINGER, transport::close);
        try {
            reader.discardAll();
        } catch (IOException left) {
            LOG.trace("a client left", left);
        }
    }

    /** The same for an error that only the writer sees. Under the writer's lock. */
    void fail(FrameWriter w, Http2Error error, String text, int lastStreamId) {
        w.finish(same -> same.frames().goAway(lastStreamId, error, text), this::hangUp);
    }

    /** All is said and written: the client hangs up, or is hung up on. */
    private void hangUp() {
        transport.shutdownOutput();
        timer.runAfter(LINGER, transport::close);
    }
}
