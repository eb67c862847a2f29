// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.connection.ClientPresence.ClientWait;
import gatun.http.connection.IncomingRequest.FastPathRequest;
import gatun.http.connection.StopNotice.RequestActivity;
import gatun.listener.ChannelTransport;
import gatun.listener.ClientError;
import gatun.listener.ClientError.ClientErrorException;
import gatun.listener.Transport.SocketTransport;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.Router;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Answers the plain requests of a connection before Helidon sees them, which spares most of the time and heap that a
 * small inference takes. Heads that are not plain, or for the listener's own services, are checked and handed to
 * Helidon byte for byte. While the client is waited for, the connection may be lent. For its thread, or the borrower's.
 */
final class FastPathReader {
    /** Answers the requests of a connection. For the connection's thread. */
    interface Handler extends Router {
        /** Answers a request; false, with nothing done, for the listener's routing. Throws to end the connection. */
        boolean answer(FastPathRequest request);

        /** Answers a request whose head is refused; always ends the connection by a CloseConnectionException. */
        CloseConnectionException refuse(RequestHeadParser.RefusedHead refusal);
    }

    /** Room for a head and a small body; further bytes are read from the transport straight to their place. */
    private static final int AT_ONCE = RequestHeadParser.PLAIN_END;

    /** Room until a client has sent more at a time: the size that a waiting connection holds. */
    private static final int AT_FIRST = 1024;

    private static final byte[] NONE = {};

    private final SocketTransport transport;
    private final ClientWait clientWait;
    private final ClientPresence presence;
    private final Handler handler;
    private final RequestHeadParser head = new RequestHeadParser();
    private final FastPathRequest request = new FastPathRequest(head);
    private final RequestActivity activity;
    private final HeaderMemoryBudget longHeads;
    private final RunPlacement placement;

    /** What the client's requests took, from the first byte that was there to the response. */
    private final RunTimeEstimator times;

    /** Null before the connection is lent for the first time. */
    private @Nullable LentConnection lent;

    /** Bytes of the buffer that count towards {@link #longHeads}. */
    private int taken;

    /** Holds the bytes that were read and not used, up to its limit. */
    private ByteBuffer bytes = ByteBuffer.allocate(0);

    /** The capacity of the buffer while nothing is in it, in bytes; grows once the client has filled it. */
    private int room = AT_FIRST;

    /** Whether the next byte is the beginning of a request. */
    private boolean atBegin = true;

    FastPathReader(
            SocketTransport transport,
            ClientWait clientWait,
            ClientPresence presence,
            RequestActivity activity,
            Handler handler,
            HeaderMemoryBudget longHeads,
            RunPlacement placement) {
        this.transport = transport;
        this.clientWait = clientWait;
        this.presence = presence;
        this.activity = activity;
        this.handler = handler;
        this.longHeads = longHeads;
        this.placement = placement;
        this.times = placement.newConnectionTimes();
    }

    /** Helidon has finished with a request; the {@code unused} bytes that it has read come next. */
    void begin(byte[] unused) {
        putBack(unused);
        atBegin = true;
        times.record(RunTimeEstimator.LONG_NANOS); // a client of such requests is not lent
    }

    /** Takes back bytes that were read from the socket before all others. */
    void putBack(byte[] unused) {
        if (unused.length > 0) {
            byte[] all = Arrays.copyOf(unused, Math.max(unused.length + bytes.remaining(), AT_ONCE));
            int byteSize = unused.length + bytes.remaining();
            bytes.get(all, unused.length, bytes.remaining());
            bytes = ByteBuffer.wrap(all).limit(byteSize);
        }
    }

    /**
     * Answers plain requests and refuses malformed ones, for as long as they come. Returns a head for Helidon, then
     * what was read of its body; null when no more will come. Throws {@link CloseConnectionException} to end it.
     */
    byte @Nullable [] untilOther() {
        if (!atBegin) {
            return take(bytes.limit());
        }
        while (bytes.hasRemaining() || lend() || read()) {
            switch (parse()) {
                case PLAIN -> {
                    long begunNanos = System.nanoTime();
                    if (!answered()) {
                        return takeHead();
                    }
                    times.record(System.nanoTime() - begunNanos);
                }
                case OTHER -> {
                    return takeHead();
                }
                case INCOMPLETE -> {
                    if (!read()) {
                        if (bytes.hasRemaining()) {
                            throw new ClientErrorException(ClientError.DISCONNECTED, "the client ended within a head");
                        }
                        return null;
                    }
                }
            }
        }
        return null;
    }

    /** Lends the connection to a {@link SharedReader} while requests are short; whether unanswered bytes have come. */
    private boolean lend() {
        if (!placement.runsOnSharedReader(times)
                || !(transport instanceof ChannelTransport channel)
                || !SharedReader.hasRoom()
                || activity.draining()
                || presence.hasKept()) {
            return false;
        }
        if (lent == null) {
            Optional<LentConnections> others = LentConnections.next();
            if (others.isEmpty()) {
                return false;
            }
            lent = new LentConnection(others.get(), channel, this::serve);
        }
        activity.startReading();
        clientWait.startWaitingForRequest();
        try {
            if (!lent.lend()) {
                times.record(RunTimeEstimator.LONG_NANOS);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.hasRemaining();
    }

    /** Answers what has come as {@link LentConnection.Service} says. For the shared reader's thread. */
    private LentConnection.Served serve() throws IOException {
        if (activity.draining()) {
            return LentConnection.Served.NOT_ALL;
        }
        makeRoom();
        int count;
        boolean mayBeAll;
        try {
            count = transport.readNow(bytes);
            mayBeAll = bytes.hasRemaining();
        } finally {
            bytes.flip();
        }
        if (count <= 0) { // the connection's own thread finds the end, too
            return count == 0 ? LentConnection.Served.ALL : LentConnection.Served.NOT_ALL;
        }
        long begunNanos = System.nanoTime();
        clientWait.addReceived(count);
        while (bytes.hasRemaining()) {
            if (!answerWhole()) {
                return LentConnection.Served.NOT_ALL;
            }
        }
        times.record(System.nanoTime() - begunNanos);
        if (presence.hasKept() || !placement.runsOnSharedReader(times)) {
            return LentConnection.Served.NOT_ALL;
        }
        activity.startReading();
        clientWait.startWaitingForRequest();
        return mayBeAll ? LentConnection.Served.ALL : LentConnection.Served.ALL_READ;
    }

    /** Answers the next request if it is plain and has come as a whole; else nothing is done. */
    private boolean answerWhole() {
        try {
            return head.parse(bytes.array(), bytes.position(), bytes.limit()) == RequestHeadParser.Outcome.PLAIN
                    && request.announcedByteSize() <= bytes.limit() - head.headEnd()
                    && answered();
        } catch (RequestHeadParser.RefusedHead e) {
            return false; // the connection's own thread reads it again, and answers
        }
    }

    private RequestHeadParser.Outcome parse() {
        try {
            return head.parse(bytes.array(), bytes.position(), bytes.limit());
        } catch (RequestHeadParser.RefusedHead e) {
            throw handler.refuse(e);
        }
    }

    private byte[] takeHead() {
        atBegin = false;
        return take(head.headEnd());
    }

    private byte[] take(int end) {
        if (bytes.position() == end) {
            return NONE;
        }
        byte[] taken = new byte[end - bytes.position()];
        bytes.get(taken);
        return taken;
    }

    /** Reads more bytes behind the unused ones; false when the client will send nothing more. */
    private boolean read() {
        byte[] kept = presence.takeKept();
        if (kept != null) {
            putBack(kept);
            return true;
        }
        makeRoom();
        try {
            activity.startReading();
            clientWait.startWaitingForRequest();
            int count = transport.read(bytes);
            if (count > 0) {
                clientWait.addReceived(count);
            }
            return count >= 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            bytes.flip();
        }
    }

    /** Makes room for bytes behind the unused ones. A long head makes the buffer grow until it has been read. */
    private void makeRoom() {
        int unused = bytes.remaining();
        if (bytes.limit() == bytes.capacity() && bytes.limit() > 0) {
            room = AT_ONCE;
        }
        if (unused == 0 && bytes.capacity() != room) {
            release();
            bytes = ByteBuffer.allocate(room);
        } else if (unused == bytes.capacity()) {
            grow(Math.max(AT_ONCE, 2 * unused));
        } else {
            bytes.compact();
        }
    }

    private void grow(int byteSize) {
        if (byteSize > AT_ONCE) {
            try {
                longHeads.take(byteSize - taken);
            } catch (RequestHeadParser.RefusedHead e) {
                throw handler.refuse(e);
            }
            taken = byteSize;
        }
        bytes = ByteBuffer.allocate(byteSize).put(bytes);
    }

    /** Gives back the memory of a long head; when nothing of it is needed any more. */
    void release() {
        longHeads.give(taken);
        taken = 0;
    }

    /** Answers the request whose plain head has been read; else nothing is done. */
    private boolean answered() {
        int begin = bytes.position();
        bytes.position(head.headEnd());
        request.begin();
        activity.beginRequest();
        try {
            if (!handler.answer(request)) {
                bytes.position(begin);
                return false;
            }
            skipBody();
            return true;
        } finally {
            activity.endRequest();
        }
    }

    /** Skips a body that no route wanted, so that the next request is found. */
    private void skipBody() {
        long left = request.bodyConsumed() ? 0 : request.announcedByteSize();
        while (left > 0) {
            int here = (int) Math.min(left, bytes.remaining());
            bytes.position(bytes.position() + here);
            left -= here;
            if (left > 0 && !read()) {
                throw new ClientErrorException(ClientError.DISCONNECTED, "the client ended within a body");
            }
        }
    }

    /** Whether the client has ended its bytes, of which up to {@code limit} are read first. Does not block. */
    boolean hasEnded(int limit) throws IOException {
        if (bytes.remaining() >= limit) {
            return false;
        }
        ByteBuffer all = ByteBuffer.allocate(AT_ONCE).put(bytes).limit(limit);
        int count = transport.readNow(all);
        bytes = all.flip();
        return count < 0;
    }

    /** Moves at most {@code most} unused bytes to {@code offset} of {@code target}; returns how many. */
    int moveTo(MemorySegment target, long offset, long most) {
        int count = (int) Math.min(bytes.remaining(), most);
        if (count > 0) {
            MemorySegment.copy(bytes.array(), bytes.position(), target, ValueLayout.JAVA_BYTE, offset, count);
            bytes.position(bytes.position() + count);
        }
        return count;
    }

    int buffered() {
        return bytes.remaining();
    }

    boolean hasMore() {
        return bytes.hasRemaining();
    }

    /** A budget of heap for long heads over all connections: slow ones would fill the heap. Thread-safe. */
    static final class HeaderMemoryBudget {
        static final HeaderMemoryBudget OF_PROCESS = new HeaderMemoryBudget(16 << 20);

        private final int most;
        private final Semaphore bytes;

        HeaderMemoryBudget(int most) {
            this.most = most;
            this.bytes = new Semaphore(most);
        }

        /** Takes {@code byteSize} more bytes, given back by {@link #give}. Throws RefusedHead when others have them. */
        void take(int byteSize) throws RequestHeadParser.RefusedHead {
            if (!bytes.tryAcquire(byteSize)) {
                throw new RequestHeadParser.RefusedHead(
                        Status.SERVICE_UNAVAILABLE_503,
                        "other requests with long heads take the " + most
                                + " bytes there are for them; send shorter headers, or try again later");
            }
        }

        void give(int byteSize) {
            bytes.release(byteSize);
        }
    }
}
