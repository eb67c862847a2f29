// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The bytes that a client sends; a first request of HTTP/1.0 is turned into one of HTTP/1.1 that closes the connection.
 * Helidon refuses 1.0, which benchmark programs and proxies in front of servers still speak. Clients of both versions
 * understand Helidon's responses; responses in pieces are ours, and ask {@link #wasOld}. For the connection's thread.
 */
final class FirstRequest implements Supplier<byte[]> {
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
