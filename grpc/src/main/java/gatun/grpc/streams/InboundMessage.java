// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.streams;

import gatun.memory.tensor.Hold;
import io.grpc.KnownLength;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * A received message in native memory: a stream, or {@link #segment()} for marshallers that know this class, which may
 * {@linkplain #takeOwnership() take the memory over}; else closing gives it back. One thread uses it at a time.
 */
public final class InboundMessage extends InputStream implements KnownLength {
    private static final Hold NOTHING = () -> {};

    private final MemorySegment bytes;
    private Hold hold;
    private long position;
    private final boolean compressed;

    /** A message in {@code bytes}, which are valid until {@code hold} is closed. */
    public InboundMessage(MemorySegment bytes, Hold hold) {
        this(bytes, hold, false);
    }

    /** The same, as the client has sent it. */
    public InboundMessage(MemorySegment bytes, Hold hold, boolean compressed) {
        this.bytes = bytes;
        this.hold = hold;
        this.compressed = compressed;
    }

    static InboundMessage empty(boolean compressed) {
        return new InboundMessage(MemorySegment.NULL, NOTHING, compressed);
    }

    public boolean isCompressed() {
        return compressed;
    }

    /** The whole message, writable; valid until this is closed, or for whom took the ownership, until that is. */
    public MemorySegment segment() {
        return bytes;
    }

    /** Hands the claim on the memory to the caller, who closes it; {@link #close()} does nothing then. */
    public Hold takeOwnership() {
        Hold taken = hold;
        hold = NOTHING;
        return taken;
    }

    @Override
    public int available() {
        return (int) Math.min(bytes.byteSize() - position, Integer.MAX_VALUE);
    }

    @Override
    public int read() {
        return position == bytes.byteSize() ? -1 : bytes.get(ValueLayout.JAVA_BYTE, position++) & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        if (length == 0) {
            return 0;
        }
        int count = Math.min(length, available());
        if (count == 0) {
            return -1;
        }
        MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, position, target, offset, count);
        position += count;
        return count;
    }

    @Override
    public long skip(long count) {
        long step = Math.clamp(count, 0L, bytes.byteSize() - position);
        position += step;
        return step;
    }

    @Override
    public void close() {
        takeOwnership().close();
    }

    /**
     * A request marshaller that implements this chooses how far into its buffer, aligned to 64 bytes, a message is put,
     * so that something inside is aligned. Called by the connection's reader: must be quick and must not throw.
     */
    @FunctionalInterface
    public interface Placement {
        /** Bytes, 0 to 63, to leave free before a message; {@code start} has those that have come, and is only read. */
        int offset(ByteBuffer start, long byteSize);
    }
}
