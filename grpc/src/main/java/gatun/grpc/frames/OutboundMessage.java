// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

import gatun.memory.tensor.Hold;
import io.grpc.KnownLength;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A serialised message that a marshaller returns: bytes on the heap, and among them parts that are sent from where they
 * lie. Owns a claim on the parts' memory until {@link #close()}, which the connection calls when the last byte is out
 * or will never be. Can be read as a stream, too. One thread uses it at a time.
 */
public final class OutboundMessage extends InputStream implements KnownLength {
    /** Bytes of gRPC's prefix: one that says whether the message is compressed, four of length. */
    public static final int PREFIX_SIZE = 5;

    private static final Hold NOTHING = () -> {};
    private static final byte[] NO_BYTES = {};
    private static final int[] NO_ENDS = {};
    private static final MemorySegment[] NO_PARTS = {};

    private final byte[] bytes;
    private final int length;
    private final int[] ends;
    private final MemorySegment[] parts;
    private final long byteSize;
    private Hold hold;
    private boolean compressed;

    // Up to where it was read, or sent: bytes of the prefix, pieces, and bytes of the present piece. Piece 2 i is the
    // bytes in front of part i, piece 2 i + 1 the part, and the last the bytes behind all parts.
    private int prefixDone;
    private int piece;
    private long done;

    /**
     * The first {@code length} of {@code bytes}, and {@code parts} that are valid until {@code hold} is closed;
     * {@code ends} says how many bytes are in front of each, never fewer than before. The arrays are not copied.
     */
    public OutboundMessage(byte[] bytes, int length, int[] ends, MemorySegment[] parts, Hold hold) {
        this.bytes = bytes;
        this.length = length;
        this.ends = ends;
        this.parts = parts;
        this.hold = hold;
        long size = length;
        for (MemorySegment part : parts) {
            size += part.byteSize();
        }
        this.byteSize = size;
    }

    /** A message of {@code parts}, in order, that are valid until {@code hold} is closed. The array is not copied. */
    public OutboundMessage(MemorySegment[] parts, Hold hold) {
        this(NO_BYTES, 0, new int[parts.length], parts, hold);
    }

    /** A message of bytes on the heap, which are not copied. */
    public static OutboundMessage of(byte[] bytes) {
        return new OutboundMessage(bytes, bytes.length, NO_ENDS, NO_PARTS, NOTHING);
    }

    /** The same where these are the compressed form of what the client is to read. */
    public static OutboundMessage compressed(byte[] bytes) {
        OutboundMessage message = of(bytes);
        message.compressed = true;
        return message;
    }

    /** Bytes of the whole message. */
    public long byteSize() {
        return byteSize;
    }

    /** Bytes that it has on the wire: those of the prefix, too. */
    public long wireByteSize() {
        return PREFIX_SIZE + byteSize;
    }

    /** Appends the next {@code count} bytes that it has on the wire; not for a message that is read as a stream. */
    void appendTo(WriteBatch batch, int count) throws IOException {
        int left = count;
        while (left > 0 && prefixDone < PREFIX_SIZE) {
            batch.ensure(1);
            batch.putByte(
                    prefixDone == 0
                            ? (byte) (compressed ? 1 : 0)
                            : (byte) (byteSize >>> (Integer.SIZE - Byte.SIZE * prefixDone)));
            prefixDone++;
            left--;
        }
        while (left > 0) {
            int step = inPiece(left);
            if (isPart()) {
                batch.put(parts[piece / 2], done, step);
            } else {
                batch.put(bytes, pieceStart() + (int) done, step);
            }
            done += step;
            left -= step;
        }
    }

    private boolean isPart() {
        return piece % 2 != 0;
    }

    private int pieceStart() {
        return piece == 0 ? 0 : ends[piece / 2 - 1];
    }

    private long pieceSize() {
        if (isPart()) {
            return parts[piece / 2].byteSize();
        }
        long end = piece / 2 < ends.length ? ends[piece / 2] : length;
        return end - pieceStart();
    }

    /** How many of the next {@code most} bytes are in one piece, which is the present one then; 0 at the end. */
    private int inPiece(long most) {
        while (done == pieceSize()) {
            if (piece == 2 * parts.length) {
                return 0;
            }
            piece++;
            done = 0;
        }
        return (int) Math.min(most, pieceSize() - done);
    }

    @Override
    public int available() {
        long left = byteSize;
        for (int i = 0; i < piece / 2; i++) {
            left -= parts[i].byteSize();
        }
        left -= isPart() ? ends[piece / 2] + done : pieceStart() + done;
        return (int) Math.min(left, Integer.MAX_VALUE);
    }

    @Override
    public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int count) {
        if (count == 0) {
            return 0;
        }
        int step = inPiece(count);
        if (step == 0) {
            return -1;
        }
        if (isPart()) {
            MemorySegment.copy(parts[piece / 2], ValueLayout.JAVA_BYTE, done, target, offset, step);
        } else {
            System.arraycopy(bytes, pieceStart() + (int) done, target, offset, step);
        }
        done += step;
        return step;
    }

    @Override
    public void close() {
        Hold held = hold;
        hold = NOTHING;
        held.close();
    }
}
