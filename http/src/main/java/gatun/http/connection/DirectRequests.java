package gatun.http.connection;

import gatun.listener.Transport;
import io.helidon.webserver.CloseConnectionException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Answers the plain requests of a connection before Helidon sees them, which spares what Helidon makes for each request: most of the time
 * and of the heap that a small inference takes. It stands where Helidon waits for the begin of a next request; what is not plain, or is
 * for the listener's own services, is handed to Helidon byte for byte. For the connection's thread, but for {@link #stop} and
 * {@link #atWork}.
 */
final class DirectRequests {
    /** Room for a head and a small body. What goes beyond stays with the transport, from where bodies are read straight to their place. */
    private static final int AT_ONCE = 8 * 1024;

    private static final byte[] NONE = {};

    private enum State {
        WAITING,
        AT_WORK,
        STOPPED
    }

    private final Transport transport;
    private final Progress progress;
    private final ClientPresence presence;
    private final EdgeRouting routing;
    private final DirectRequest request = new DirectRequest();
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

    /** What was read and not used lies in it, up to its limit. */
    private ByteBuffer bytes = ByteBuffer.allocate(0);

    /** Whether what comes next is the begin of a request, all of which Helidon has left to this. */
    private boolean atBegin = true;

    DirectRequests(Transport transport, Progress progress, ClientPresence presence, EdgeRouting routing) {
        this.transport = transport;
        this.progress = progress;
        this.presence = presence;
        this.routing = routing;
    }

    /** Says that Helidon reads the next request. */
    void leave() {
        atBegin = false;
    }

    /** Says that Helidon is through with a request and has read nothing of the next. */
    void begin() {
        atBegin = true;
    }

    /**
     * Answers plain requests, for as long as they come.
     *
     * @return the bytes of what is for Helidon; null when the client will send nothing more, and empty when Helidon is amid a request
     * @throws CloseConnectionException when the connection is to end
     */
    byte @Nullable [] untilOther() {
        if (!atBegin) {
            return NONE;
        }
        while (bytes.hasRemaining() || read()) {
            int begin = bytes.position();
            if (!request.read(bytes.array(), begin, bytes.limit())) {
                return handOver();
            }
            bytes.position(request.headEnd());
            if (!answered()) {
                bytes.position(begin);
                return handOver();
            }
        }
        return null;
    }

    private byte[] handOver() {
        atBegin = false;
        byte[] all = new byte[bytes.remaining()];
        bytes.get(all);
        return all;
    }

    /** Reads into the empty buffer; false when the client will send nothing more. */
    private boolean read() {
        byte[] kept = presence.takeKept();
        if (kept != null) {
            bytes = ByteBuffer.wrap(Arrays.copyOf(kept, Math.max(kept.length, AT_ONCE)))
                    .limit(kept.length);
            return true;
        }
        if (bytes.capacity() == 0) {
            bytes = ByteBuffer.allocate(AT_ONCE);
        }
        progress.waitsForRequest();
        try {
            int count = transport.read(bytes.clear());
            if (count > 0) {
                progress.took(count);
            }
            return count >= 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            bytes.flip();
        }
    }

    private boolean answered() {
        if (!state.compareAndSet(State.WAITING, State.AT_WORK)) {
            throw stopped();
        }
        try {
            if (!routing.answer(request)) {
                return false;
            }
            skipBody();
        } finally {
            state.compareAndSet(State.AT_WORK, State.WAITING);
        }
        if (state.get() == State.STOPPED) {
            throw stopped();
        }
        return true;
    }

    /** Passes over a body that no route wanted, so that the next request is found. */
    private void skipBody() {
        long left = request.bodyConsumed() ? 0 : request.announcedByteSize();
        while (left > 0) {
            int here = (int) Math.min(left, bytes.remaining());
            bytes.position(bytes.position() + here);
            left -= here;
            if (left > 0 && !read()) {
                throw new CloseConnectionException("the client ended within a body");
            }
        }
    }

    /** Moves what was read and not used into {@code target}, as far as it has room. */
    void moveTo(ByteBuffer target) {
        int count = Math.min(bytes.remaining(), target.remaining());
        if (count > 0) {
            target.put(bytes.array(), bytes.position(), count);
            bytes.position(bytes.position() + count);
        }
    }

    /** Whether the client has sent more than what was used. */
    boolean hasMore() {
        return bytes.hasRemaining();
    }

    /** Whether a request is being answered. For any thread. */
    boolean atWork() {
        return state.get() == State.AT_WORK;
    }

    /** Answers no more requests; false when one is being answered, after which the connection ends. For any thread. */
    boolean stop() {
        return state.getAndSet(State.STOPPED) != State.AT_WORK;
    }

    private static CloseConnectionException stopped() {
        return new CloseConnectionException("the server stops");
    }
}
