// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.streams;

import gatun.grpc.frames.Http2;
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

    /**
     * Bytes that a client may still send on one stream. A message's bytes are given back when its handler has consumed it,
     * so a slow handler holds back its own client only. A message beyond the window gets its whole length at once, as its
     * memory is taken, but only when no earlier one waits, or a client could make the server take memory without end.
     * Increments count once announced. Safe for any thread by its own monitor: a lock would be one more object for each
     * call; no other is taken within, so that no pinned virtual thread waits there.
     */
    static final class ReceiveWindow {
        /** Returned bytes are announced to the client from this many on. */
        private final long announceSize;

        // Guarded by this.
        /** Bytes that the client may send once all decided increments have been announced. */
        private long available;

        /** Bytes that the client may send by the announced increments. */
        private long told;

        private long returned;
        private int waitingMessages;
        private long awaited;

        ReceiveWindow(int size) {
            this.available = size;
            this.told = size;
            this.announceSize = Math.max(1, size / 2);
        }

        /** A DATA frame came; whether it was allowed. {@code padding}, its length byte included, is given back at once. */
        synchronized boolean received(int payload, int padding) {
            available -= payload + padding;
            told -= payload + padding;
            awaited = Math.max(0, awaited - payload);
            returned += padding;
            return told >= 0;
        }

        /** A message begins, {@code beyond} of its bytes after the present frame; the increment to announce, or 0. */
        synchronized int messageBegins(long beyond) {
            awaited = beyond;
            return waitingMessages == 0 ? announceAwaited() : 0;
        }

        synchronized void messageWaits() {
            waitingMessages++;
        }

        /** A message of {@code byteSize} bytes, prefix included, was consumed. Returns the increment to announce, or 0. */
        synchronized int messageConsumed(long byteSize) {
            waitingMessages--;
            returned += byteSize;
            if (waitingMessages == 0 && awaited > available) {
                return announceAwaited();
            }
            return returned >= announceSize ? announce(returned) : 0;
        }

        /** Whether the client may not send all of the message that it has begun. */
        synchronized boolean holdsBack() {
            return awaited > available;
        }

        /** The client is told {@code increment} now; before it can know. */
        synchronized void told(int increment) {
            told += increment;
        }

        /** Gives the awaited message all that it needs, in advance of the bytes that are returned when it is consumed. */
        private int announceAwaited() {
            assert Thread.holdsLock(this);
            if (awaited <= available) {
                return 0;
            }
            return announce(Math.max(returned, awaited));
        }

        private int announce(long wanted) {
            long increment = Math.min(wanted, Http2.LARGEST_WINDOW_SIZE - available);
            available += increment;
            // Below zero where bytes were given on account: the message's own return makes up for it.
            returned -= increment;
            return (int) increment;
        }
    }
}
