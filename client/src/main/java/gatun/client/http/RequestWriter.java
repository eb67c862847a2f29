// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** Sends a request's pieces in order: small ones through a buffer, large ones from native memory. Not thread-safe. */
final class RequestWriter {
    /** Up to here a copy costs less than telling the system of one more piece. */
    private static final long COPIED_BYTES = 8 << 10;

    private static final int BUFFER_BYTES = 64 << 10;
    /** The largest part of a segment shown as a {@link ByteBuffer}, in bytes: a round number below its limit. */
    private static final long PIECE_BYTES = 1 << 30;

    private final Wire wire;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final MemorySegment bufferBytes = MemorySegment.ofBuffer(buffer);
    private final ByteBuffer[] one = {buffer};
    private final ByteBuffer[] two = {buffer, buffer};

    RequestWriter(Wire wire) {
        this.wire = wire;
    }

    /** Drops the bytes that an earlier attempt left. */
    void begin() {
        buffer.clear();
    }

    /** Sends all of {@code piece}, now or with {@link #flush}. Its memory is no longer needed when this returns. */
    void put(MemorySegment piece) throws IOException {
        if (piece.isNative() && piece.byteSize() > COPIED_BYTES) {
            write(piece);
        } else {
            copy(piece);
        }
    }

    void flush() throws IOException {
        if (buffer.position() > 0) {
            buffer.flip();
            wire.write(one, 1);
            buffer.clear();
        }
    }

    private void copy(MemorySegment piece) throws IOException {
        long size = piece.byteSize();
        for (long at = 0; at < size; ) {
            if (!buffer.hasRemaining()) {
                flush();
            }
            int count = (int) Math.min(size - at, buffer.remaining());
            MemorySegment.copy(piece, at, bufferBytes, buffer.position(), count);
            buffer.position(buffer.position() + count);
            at += count;
        }
    }

    private void write(MemorySegment piece) throws IOException {
        long size = piece.byteSize();
        for (long at = 0; at < size; at += PIECE_BYTES) {
            two[1] = piece.asSlice(at, Math.min(PIECE_BYTES, size - at)).asByteBuffer();
            buffer.flip();
            wire.write(two, 2);
            // Not kept alive by the connection.
            two[1] = buffer;
            buffer.clear();
        }
    }
}
