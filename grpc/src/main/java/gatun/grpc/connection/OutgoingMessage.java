// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * A message on its way out: gRPC's five-byte prefix and the parts of an {@link OutboundMessage}, with the place up to
 * which it was written. One thread uses it at a time.
 */
final class OutgoingMessage implements AutoCloseable {
    /** Bytes of the prefix: one that says whether the message is compressed, four of length. */
    static final int PREFIX_SIZE = 5;

    /** No message at all. */
    static final OutgoingMessage NONE =
            new OutgoingMessage(new OutboundMessage(new MemorySegment[0], () -> {}), false, 0);

    private final OutboundMessage message;
    private final boolean compressed;
    private final long byteSize;
    private boolean begun;
    private int part;
    private long offset;

    private OutgoingMessage(OutboundMessage message, boolean compressed, long byteSize) {
        this.message = message;
        this.compressed = compressed;
        this.byteSize = byteSize;
    }

    /** Takes over a message of at most 2^32 - 1 bytes. */
    static OutgoingMessage of(OutboundMessage message, boolean compressed) {
        return new OutgoingMessage(message, compressed, PREFIX_SIZE + message.byteSize());
    }

    /** Bytes on the wire, the prefix included; 0 for {@link #NONE}. */
    long byteSize() {
        return byteSize;
    }

    /**
     * Appends the next {@code length} bytes; the first time at least the prefix's five, unless windows are that small.
     */
    void appendTo(WriteBatch batch, int length) throws IOException {
        int left = length;
        if (!begun) {
            left = appendPrefix(batch, left);
        }
        while (left > 0) {
            MemorySegment current = message.part(part);
            int step = (int) Math.min(left, current.byteSize() - offset);
            if (step == 0) {
                part++;
                offset = 0;
                continue;
            }
            batch.put(current, offset, step);
            offset += step;
            left -= step;
        }
    }

    /** The prefix may be split too: {@code offset} counts its bytes until it is out. */
    private int appendPrefix(WriteBatch batch, int length) throws IOException {
        int left = length;
        while (left > 0 && offset < PREFIX_SIZE) {
            batch.ensure(1);
            batch.putByte(
                    offset == 0
                            ? (byte) (compressed ? 1 : 0)
                            : (byte) (message.byteSize() >>> (Integer.SIZE - 8 * offset)));
            offset++;
            left--;
        }
        if (offset == PREFIX_SIZE) {
            begun = true;
            offset = 0;
        }
        return left;
    }

    @Override
    public void close() {
        message.close();
    }
}
