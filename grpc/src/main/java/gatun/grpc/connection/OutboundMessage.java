// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.memory.tensor.Hold;
import io.grpc.KnownLength;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A serialised message made of parts that lie on the heap or in native memory, which a marshaller returns so that they
 * are sent from where they lie. Owns a claim on that memory: {@link #close()} gives it back once, and the connection
 * calls it when the last byte is out or will never be. Reading it as a stream works too, for whoever wants plain bytes.
 */
public final class OutboundMessage extends InputStream implements KnownLength {
    private static final Hold NOTHING = () -> {};

    private final MemorySegment[] parts;
    private Hold hold;
    private final long byteSize;

    // Where the stream's reader is; only the thread that reads uses it.
    private int readPart;
    private long readOffset;

    /** A message of {@code parts}, in order, that are valid until {@code hold} is closed. The array is not copied. */
    public OutboundMessage(MemorySegment[] parts, Hold hold) {
        this.parts = parts;
        this.hold = hold;
        long size = 0;
        for (MemorySegment part : parts) {
            size += part.byteSize();
        }
        this.byteSize = size;
    }

    /** A message of bytes on the heap, which are not copied. */
    public static OutboundMessage of(byte[] bytes) {
        return new OutboundMessage(new MemorySegment[] {MemorySegment.ofArray(bytes)}, NOTHING);
    }

    /** Bytes of the whole message. */
    public long byteSize() {
        return byteSize;
    }

    /** How many parts there are. */
    int partCount() {
        return parts.length;
    }

    /** One of the parts. */
    MemorySegment part(int index) {
        return parts[index];
    }

    @Override
    public int available() {
        long left = -readOffset;
        for (int i = readPart; i < parts.length; i++) {
            left += parts[i].byteSize();
        }
        return (int) Math.min(left, Integer.MAX_VALUE);
    }

    @Override
    public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        if (length == 0) {
            return 0;
        }
        while (readPart < parts.length && readOffset == parts[readPart].byteSize()) {
            readPart++;
            readOffset = 0;
        }
        if (readPart == parts.length) {
            return -1;
        }
        int count = (int) Math.min(length, parts[readPart].byteSize() - readOffset);
        MemorySegment.copy(parts[readPart], ValueLayout.JAVA_BYTE, readOffset, target, offset, count);
        readOffset += count;
        return count;
    }

    @Override
    public void close() {
        Hold held = hold;
        hold = NOTHING;
        held.close();
    }
}
