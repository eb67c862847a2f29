// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.MalformedResponseException;
import gatun.client.ServerAddress;
import gatun.client.calls.ConnectFailure;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** An open connection with one exchange at a time. Not thread-safe, but any thread may close the channel. */
final class HttpConnection {
    /** The longest head of a response, and the longest JSON that is read without memory of its own. */
    private static final int BUFFER_BYTES = 16 << 10;

    private final WatchedChannel channel;
    private final Wire wire;
    private final RequestWriter writer;
    private final ByteBuffer in = ByteBuffer.allocateDirect(BUFFER_BYTES).limit(0);
    private final MemorySegment inBytes = MemorySegment.ofBuffer(in.duplicate().clear());
    private final ResponseHead head = new ResponseHead();
    private final ResponseBody body;
    private final LayoutMemory layouts = new LayoutMemory();

    private long idleSince;
    private int headFrom;
    private int headTo;
    private boolean sent;
    private boolean answered;
    private boolean persistent;

    HttpConnection(WatchedChannel channel, Wire wire) {
        this.channel = channel;
        this.wire = wire;
        this.writer = new RequestWriter(wire);
        this.body = new ResponseBody(wire, in);
    }

    WatchedChannel channel() {
        return channel;
    }

    void exchange(OutgoingRequest request) throws IOException {
        sent = false;
        answered = false;
        persistent = false;
        if (in.hasRemaining()) {
            throw new EOFException("the server sent " + in.remaining() + " bytes more than its last answer has");
        }
        in.clear().limit(0);
        writer.begin();
        try {
            request.writeTo(writer);
            writer.flush();
            sent = true;
        } catch (IOException e) {
            awaitRefusal(e);
            return;
        }
        readHead();
        persistent = head.isPersistent();
    }

    /** A server may refuse a request before it has read it, and read no more. */
    private void awaitRefusal(IOException failure) throws IOException {
        try {
            readHead();
        } catch (ForeignAnswerException e) {
            throw e;
        } catch (IOException e) {
            failure.addSuppressed(e);
            throw failure;
        }
        if (head.isSuccess()) {
            throw failure;
        }
    }

    ResponseHead head() {
        return head;
    }

    /** A copy of the head of the response; only before its body is read. */
    String headText() {
        byte[] bytes = new byte[headTo - headFrom];
        in.get(headFrom, bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    ResponseBody body() {
        return body;
    }

    /** The layout that the connection remembers of its last response. */
    LayoutMemory layouts() {
        return layouts;
    }

    /** The longest part of a body that {@link ResponseBody#await} can put into the buffer. */
    int bufferByteSize() {
        return BUFFER_BYTES;
    }

    MemorySegment buffer() {
        return inBytes;
    }

    int bufferedFrom() {
        return in.position();
    }

    /** Whether the last request was sent completely, so that the server may have carried it out. */
    boolean wasSent() {
        return sent;
    }

    boolean wasAnswered() {
        return answered;
    }

    boolean isReusable() {
        return persistent && body.isComplete();
    }

    /** Since when nobody uses it, in nanoseconds. */
    long idleSince() {
        return idleSince;
    }

    void becomeIdle(long now) {
        idleSince = now;
    }

    private void readHead() throws IOException {
        do {
            int end = awaitHead();
            head.parse(in, end);
            headFrom = in.position();
            headTo = end;
            in.position(end);
        } while (head.isInterim());
        body.begin(head);
    }

    /** Reads until there is a whole head, and returns where it ends. */
    private int awaitHead() throws IOException {
        int scanned = in.position();
        while (true) {
            int end = headEnd(scanned);
            if (end >= 0) {
                return end;
            }
            scanned = Math.max(in.position(), in.limit() - 3);
            if (in.limit() == in.capacity()) {
                scanned -= in.position();
                in.compact().flip();
                if (in.limit() == in.capacity()) {
                    throw new MalformedResponseException("the head of the answer has more than " + BUFFER_BYTES
                            + " bytes, which is the client's limit");
                }
            }
            int start = in.position();
            in.position(in.limit()).limit(in.capacity());
            int count;
            try {
                count = wire.read(in);
            } finally {
                in.limit(in.position()).position(start);
            }
            if (count < 0) {
                requireHttp();
                throw new EOFException(
                        answered
                                ? "the server closed the connection within the answer's head"
                                : "the server closed the connection without an answer");
            }
            answered = true;
        }
    }

    /** Throws {@link ForeignAnswerException} for bytes that no answer of HTTP begins with. */
    private void requireHttp() throws ForeignAnswerException {
        if (in.hasRemaining() && (in.get(in.position()) | 0x20) != 'h') {
            throw new ForeignAnswerException(in.get(in.position()) == ForeignAnswerException.TLS_ALERT);
        }
    }

    /** Where the head ends whose empty line begins at {@code from} or later; -1 when it is not there yet. */
    private int headEnd(int from) {
        int limit = in.limit();
        for (int at = from; at < limit - 1; at++) {
            if (in.get(at) == '\n') {
                if (in.get(at + 1) == '\n') {
                    return at + 2;
                }
                if (in.get(at + 1) == '\r' && at + 2 < limit && in.get(at + 2) == '\n') {
                    return at + 3;
                }
            }
        }
        return -1;
    }

    /** What listens on the port does not speak HTTP without TLS, and has closed the connection. */
    static final class ForeignAnswerException extends IOException {
        private static final long serialVersionUID = 1;

        /** The first byte of a record by which a server of TLS refuses what is no TLS. */
        static final int TLS_ALERT = 0x15;

        private final boolean tls;

        ForeignAnswerException(boolean tls) {
            super(tls ? "the server speaks TLS" : "the server does not speak HTTP/1.1");
            this.tls = tls;
        }

        /** The reason, and the address to try instead. */
        String reason(ServerAddress server) {
            return tls && !server.tls()
                    ? "the server speaks TLS there: use " + ConnectFailure.otherUrl(server)
                    : "what answers there does not speak HTTP/1.1: if it speaks gRPC, use "
                            + ConnectFailure.url(server, server.tls() ? "grpcs" : "grpc");
        }
    }

    /** The JSON of a connection's last response and its layout, which similar responses share. Not thread-safe. */
    static final class LayoutMemory {
        private MemorySegment json = MemorySegment.NULL;
        private @Nullable InferLayout layout;

        /** The layout in these bytes of JSON, or null where they differ from the last ones. */
        @Nullable
        InferLayout find(MemorySegment buffer, long from, long byteSize) {
            return layout != null
                            && json.byteSize() == byteSize
                            && MemorySegment.mismatch(json, 0, byteSize, buffer, from, from + byteSize) < 0
                    ? layout
                    : null;
        }

        /** Remembers the layout in {@code bytes}, which never change. */
        void put(byte[] bytes, InferLayout said) {
            json = MemorySegment.ofArray(bytes);
            layout = said;
        }
    }
}
