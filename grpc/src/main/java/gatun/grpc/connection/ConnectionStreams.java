// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.frames.FrameWriter;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.grpc.streams.GrpcStream;
import java.io.IOException;
import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The open streams of a connection, and its calls. Opened by the reading thread; thread-safe for all else. */
final class ConnectionStreams {
    private final ConcurrentHashMap<Integer, GrpcStream> streams = new ConcurrentHashMap<>();

    /** Calls of which something is left: those whose stream is gone included, until the handler and the writer know. */
    private final AtomicInteger liveCalls = new AtomicInteger();

    /** Written by the reading thread. */
    private volatile int lastId;

    /** How many calls have begun; written by the reading thread. */
    private final AtomicLong calls = new AtomicLong();

    /** Whether the reading thread, which alone writes it, may be about to add a call. */
    private volatile boolean opening;

    private volatile long lastEndedNanos = System.nanoTime();

    /** The client opens stream {@code id}, and a call may be added until {@link #endOpening}. */
    void beginOpening(int id) {
        lastId = id;
        opening = true;
    }

    void endOpening() {
        opening = false;
    }

    void beginCall() {
        liveCalls.incrementAndGet();
        calls.lazySet(calls.getPlain() + 1);
    }

    long calls() {
        return calls.get();
    }

    void add(GrpcStream stream) {
        streams.put(stream.key(), stream);
    }

    /** The stream with that number; null for one that is over. */
    @Nullable
    GrpcStream get(int id) {
        return streams.get(id);
    }

    void forEach(Consumer<GrpcStream> action) {
        streams.values().forEach(action);
    }

    /** All streams that are not over, at any time. */
    Collection<GrpcStream> all() {
        return streams.values();
    }

    /** The stream is over; its late frames are passed over from now on. */
    void forget(GrpcStream stream) {
        streams.remove(stream.key(), stream);
    }

    void endCall() {
        lastEndedNanos = System.nanoTime();
        liveCalls.decrementAndGet();
    }

    int liveCalls() {
        return liveCalls.get();
    }

    /** Whether all other streams are answered, or as good as: nothing but the last write of each may be to come. */
    boolean isOnlyUnanswered(GrpcStream stream) {
        if (liveCalls.get() == 1) {
            return true; // its own, without a look at each
        }
        for (GrpcStream other : streams.values()) {
            if (other != stream && !other.sendClosed()) {
                return false;
            }
        }
        return true;
    }

    /** The last stream that the client opened; 0 before the first. */
    int lastId() {
        return lastId;
    }

    /** When the last call ended, as a reading of {@link System#nanoTime}; when the connection was made, before. */
    long lastEndedNanos() {
        return lastEndedNanos;
    }

    boolean isIdle() {
        return liveCalls.get() == 0 && streams.isEmpty();
    }

    /** Whether nothing runs and no stream is being opened. */
    boolean isDone() {
        return !opening && isIdle();
    }

    /**
     * The bytes that a client may still send on a connection. They are given back when they are read: how much may wait
     * is the streams' windows' matter. They count as given once announced, late for a client that does not read. Used
     * by the reading thread, but for what the writer calls under its lock.
     */
    static final class ConnectionWindow {
        private final FrameWriter writer;
        private final int size;
        private final int announceSize;

        // Used by the reading thread only.
        private long received;
        private int owed;

        /** All bytes ever allowed to the client; written under the writer's lock, before the client can know. */
        private volatile long allowed = Http2.DEFAULT_WINDOW_SIZE;

        ConnectionWindow(FrameWriter writer, int size) {
            this.writer = writer;
            this.size = size;
            this.announceSize = size / 2;
        }

        /** Tells the client that it may send more than HTTP/2 allows every client at first. Under the writer's lock. */
        void open(FrameWriter w) throws IOException {
            if (size > Http2.DEFAULT_WINDOW_SIZE) {
                announce(w, size - Http2.DEFAULT_WINDOW_SIZE);
            }
        }

        /** A DATA frame of {@code length} bytes, padding included, came. Throws {@link ConnectionError} if too long. */
        void received(int length) {
            received += length;
            if (received > allowed) {
                throw new ConnectionError(Http2Error.FLOW_CONTROL_ERROR, "the connection's window was exceeded");
            }
            owed += length;
            if (owed >= announceSize) {
                int increment = owed;
                owed = 0;
                writer.control(w -> announce(w, increment));
            }
        }

        private void announce(FrameWriter w, int increment) throws IOException {
            long more = allowed + increment;
            allowed = more;
            w.frames().windowUpdate(0, increment);
        }
    }
}
