// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.connection.ClientPresence.ClientWait;
import gatun.http.connection.StopNotice.RequestActivity;
import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a client sends, as Helidon reads it. Bodies may bypass Helidon into native memory; it is then told that a body
 * is at its end, by an empty buffer or a last chunk. For the connection's thread.
 */
final class HelidonDataReader extends DataReader {
    private static final byte[] NONE = {};
    private static final String LAST_CHUNK = "0";
    private static final String NO_TRAILER = "";

    /** How the body at hand was taken. */
    private enum Taken {
        /** It was not: Helidon reads it. */
        NOTHING,
        /** A body of a length that was announced. */
        ANNOUNCED,
        /** A body in chunks, of which Helidon has not heard of the last one. */
        CHUNKS,
        /** A body in chunks, of which Helidon has not read the line after the last one. */
        TRAILER
    }

    private final FirstRequest source;
    private Taken taken = Taken.NOTHING;

    // The factory methods make readers that cannot be extended.
    @SuppressWarnings("removal")
    private HelidonDataReader(FirstRequest source) {
        super(source);
        this.source = source;
    }

    /**
     * Reads what {@code early} has read already, then what {@code presence} read while a request waited, then
     * {@code socket}. Bytes that begin between requests, or came with a head, go to {@code fastPath} before Helidon.
     */
    static HelidonDataReader of(
            DataReader early,
            FastPathReader fastPath,
            Supplier<byte[]> socket,
            ClientPresence presence,
            RequestActivity activity,
            ClientWait clientWait) {
        return new HelidonDataReader(
                new FirstRequest(() -> next(early, fastPath, socket, presence, activity, clientWait)));
    }

    private static byte @Nullable [] next(
            DataReader early,
            FastPathReader fastPath,
            Supplier<byte[]> socket,
            ClientPresence presence,
            RequestActivity activity,
            ClientWait clientWait) {
        int available = early.available();
        if (available > 0) {
            fastPath.putBack(early.readBytes(available));
        }
        byte[] other = fastPath.untilOther();
        if (other == null || other.length > 0) {
            return other;
        }
        byte[] kept = presence.takeKept();
        if (kept != null) {
            return kept;
        }
        activity.startReading();
        clientWait.startWaitingForRequest();
        byte[] bytes = socket.get();
        clientWait.addReceived(bytes == null ? 0 : bytes.length);
        return bytes;
    }

    /** Whether the client speaks HTTP/1.0, which knows no chunks. */
    boolean speaksOldHttp() {
        return source.wasOld();
    }

    /** Takes the bytes that have been read from the socket and not been used. */
    byte[] takeBuffered() {
        int byteSize = super.available();
        return byteSize == 0 ? NONE : readBytes(byteSize);
    }

    /** How many of at most {@code limit} bytes have been read from the socket and not been used. */
    long buffered(long limit) {
        return Math.min(limit, super.available());
    }

    /** Reads a line. Throws when it has more than {@code limit} bytes or a malformed end, or the client ends before. */
    String line(int limit) {
        int length = findNewLine(limit);
        if (length == limit) {
            throw new IncorrectNewLineException("a line has more than " + limit + " bytes");
        }
        String line = readAsciiString(length);
        skip(2);
        return line;
    }

    void tookAnnouncedBody() {
        taken = Taken.ANNOUNCED;
    }

    void tookChunkedBody() {
        taken = Taken.CHUNKS;
    }

    @Override
    public void ensureAvailable() {
        if (taken != Taken.ANNOUNCED) {
            super.ensureAvailable();
        }
    }

    @Override
    public int available() {
        return taken == Taken.ANNOUNCED ? Integer.MAX_VALUE : super.available();
    }

    @Override
    public BufferData readBuffer(int length) {
        if (taken != Taken.ANNOUNCED) {
            return super.readBuffer(length);
        }
        taken = Taken.NOTHING;
        return BufferData.empty();
    }

    @Override
    public String readLine() {
        return switch (taken) {
            case NOTHING, ANNOUNCED -> super.readLine();
            case CHUNKS -> {
                taken = Taken.TRAILER;
                yield LAST_CHUNK;
            }
            case TRAILER -> {
                taken = Taken.NOTHING;
                yield NO_TRAILER;
            }
        };
    }

    /**
     * Turns a first request of HTTP/1.0 into one of 1.1 that closes the connection: Helidon refuses 1.0, which
     * benchmarks and proxies still speak. Clients of both understand responses; those in pieces ask {@link #wasOld}.
     */
    static final class FirstRequest implements Supplier<byte[]> {
        /** Where so many bytes contain no line end, Helidon refuses the request. */
        private static final int LONGEST_LINE = 16 * 1024;

        private static final byte[] OLD = "HTTP/1.0\r".getBytes(StandardCharsets.US_ASCII);
        private static final byte[] NEW = "HTTP/1.1\r\nConnection: close\r".getBytes(StandardCharsets.US_ASCII);

        private final Supplier<byte[]> source;
        private boolean seen;
        private boolean old;

        FirstRequest(Supplier<byte[]> source) {
            this.source = source;
        }

        @Override
        public byte @Nullable [] get() {
            byte[] bytes = source.get();
            if (seen || bytes == null) {
                return bytes;
            }
            seen = true;
            int lineEnd = indexOfLineFeed(bytes, 0);
            while (lineEnd < 0 && bytes.length < LONGEST_LINE) {
                byte[] more = source.get();
                if (more == null) {
                    return bytes;
                }
                int searched = bytes.length;
                bytes = Arrays.copyOf(bytes, searched + more.length);
                System.arraycopy(more, 0, bytes, searched, more.length);
                lineEnd = indexOfLineFeed(bytes, searched);
            }
            old = isOld(bytes, lineEnd);
            return old ? renewed(bytes, lineEnd) : bytes;
        }

        /** Whether the first request is of HTTP/1.0; there is no second one then. */
        boolean wasOld() {
            return old;
        }

        private static boolean isOld(byte[] bytes, int lineEnd) {
            return lineEnd >= OLD.length && Arrays.equals(bytes, lineEnd - OLD.length, lineEnd, OLD, 0, OLD.length);
        }

        private static byte[] renewed(byte[] bytes, int lineEnd) {
            byte[] renewed = new byte[bytes.length - OLD.length + NEW.length];
            int version = lineEnd - OLD.length;
            System.arraycopy(bytes, 0, renewed, 0, version);
            System.arraycopy(NEW, 0, renewed, version, NEW.length);
            System.arraycopy(bytes, lineEnd, renewed, version + NEW.length, bytes.length - lineEnd);
            return renewed;
        }

        private static int indexOfLineFeed(byte[] bytes, int from) {
            for (int i = from; i < bytes.length; i++) {
                if (bytes[i] == '\n') {
                    return i;
                }
            }
            return -1;
        }
    }
}
