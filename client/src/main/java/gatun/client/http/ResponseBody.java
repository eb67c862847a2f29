// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.MalformedResponseException;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** A response's body without HTTP's framing: by length, chunks, or the connection's end. Not thread-safe. */
final class ResponseBody {
    /** Until the connection ends. */
    private static final long UNBOUNDED = Long.MAX_VALUE;

    private static final long PIECE_BYTES = 1 << 30;
    private static final int GREATEST_LINE = 4096;
    private static final int GREATEST_TRAILER_LINES = 100;

    private final Wire wire;
    /** Bytes that were read but not used yet, between position and limit. */
    private final ByteBuffer in;

    private boolean bounded;
    private boolean chunked;
    /** Whether a chunk's line end comes before the next chunk. */
    private boolean inChunks;

    private long left;

    ResponseBody(Wire wire, ByteBuffer in) {
        this.wire = wire;
        this.in = in;
    }

    void begin(ResponseHead head) {
        chunked = head.isChunked() && head.hasBody();
        inChunks = false;
        bounded = chunked || !head.hasBody() || head.contentLength() != ResponseHead.NONE;
        if (chunked || !head.hasBody()) {
            left = 0;
        } else {
            left = bounded ? head.contentLength() : UNBOUNDED;
        }
    }

    /** Whether all was read, so that the next answer may follow. */
    boolean isComplete() {
        return bounded && !chunked && left == 0;
    }

    /** Reads some bytes, and waits for the first. Returns how many; -1 when there are no more. */
    int read(ByteBuffer target) throws IOException {
        if (left == 0 && !(chunked && nextChunk())) {
            return -1;
        }
        int limit = target.limit();
        target.limit((int) Math.min(limit, target.position() + Math.min(left, Integer.MAX_VALUE - target.position())));
        int count;
        if (in.hasRemaining()) {
            count = Math.min(in.remaining(), target.remaining());
            target.put(target.position(), in, in.position(), count);
            in.position(in.position() + count);
            target.position(target.position() + count);
        } else {
            count = wire.read(target);
        }
        target.limit(limit);
        if (count < 0) {
            if (!bounded) {
                left = 0;
                return -1;
            }
            throw new EOFException("the server closed the connection within the answer");
        }
        if (bounded) {
            left -= count;
        }
        return count;
    }

    /** Fills {@code target}. Throws {@link MalformedResponseException} when the body ends before. */
    void readFully(MemorySegment target) throws IOException {
        long size = target.byteSize();
        for (long at = 0; at < size; at += PIECE_BYTES) {
            ByteBuffer piece =
                    target.asSlice(at, Math.min(PIECE_BYTES, size - at)).asByteBuffer();
            while (piece.hasRemaining()) {
                if (read(piece) < 0) {
                    throw new MalformedResponseException("the answer ends " + (size - at - piece.position())
                            + " bytes before its end, as its head tells it");
                }
            }
        }
    }

    /** Reads {@code count} bytes, which must fit, into the buffer from its position. {@link #skip} follows them. */
    void await(int count) throws IOException {
        while (in.remaining() < count) {
            if (in.capacity() - in.position() < count) {
                in.compact().flip();
            }
            more();
        }
    }

    /** Skips the next {@code count} bytes, which are in the buffer. */
    void skip(int count) {
        in.position(in.position() + count);
        left -= count;
    }

    /** Begins the next chunk; false when there is none. */
    private boolean nextChunk() throws IOException {
        if (inChunks && !line().isEmpty()) {
            throw new MalformedResponseException("a chunk of the answer is longer than it says");
        }
        inChunks = true;
        String line = line();
        int end = line.indexOf(';');
        String size = (end < 0 ? line : line.substring(0, end)).strip();
        try {
            left = Long.parseLong(size, 16);
        } catch (NumberFormatException e) {
            left = -1;
        }
        if (left < 0) {
            throw new MalformedResponseException(
                    "a chunk of the answer begins with '" + line + "': expected its size as a hexadecimal number");
        }
        if (left > 0) {
            return true;
        }
        chunked = false;
        for (int lines = 0; !line().isEmpty(); lines++) {
            if (lines == GREATEST_TRAILER_LINES) {
                throw new MalformedResponseException("more than " + lines + " lines follow the answer's last chunk");
            }
        }
        return false;
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder(16);
        while (true) {
            if (!in.hasRemaining()) {
                in.clear().limit(0);
                more();
            }
            char letter = (char) (in.get() & 0xFF);
            if (letter == '\n') {
                int length = line.length();
                if (length > 0 && line.charAt(length - 1) == '\r') {
                    line.setLength(length - 1);
                }
                return line.toString();
            }
            if (line.length() == GREATEST_LINE) {
                throw new MalformedResponseException(
                        "a line between the answer's chunks is longer than " + GREATEST_LINE + " bytes");
            }
            line.append(letter);
        }
    }

    /** Reads more bytes behind those in the buffer. */
    private void more() throws IOException {
        int start = in.position();
        int end = in.limit();
        in.limit(in.capacity()).position(end);
        int count;
        try {
            count = wire.read(in);
        } finally {
            in.limit(in.position()).position(start);
        }
        if (count < 0) {
            throw new EOFException("the server closed the connection within the answer");
        }
    }
}
