// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.client.MalformedResponseException;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The native memory that responses lie in, lent to all clients of the process. Safe for any thread. */
public final class ClientMemory {
    private static final long LIMIT = 1L << 34;

    private static final ResponseBlocks BLOCKS = new ResponseBlocks();

    /** Bytes of all responses that were not closed. */
    private static final AtomicLong USED = new AtomicLong();

    private ClientMemory() {}

    /** The largest response that there can be room for, in bytes. */
    public static long limit() {
        return LIMIT;
    }

    /**
     * Lends {@code byteSize} bytes, aligned to 64, with undefined content.
     *
     * @throws IllegalStateException when responses that were not closed hold too much of the memory, or there is none
     * @throws MalformedResponseException when it is more than any response may have
     */
    public static ResponseBuffer take(long byteSize) {
        if (byteSize > LIMIT) {
            throw new MalformedResponseException(
                    "an answer of " + byteSize + " bytes: expected at most " + LIMIT + ", the client's limit");
        }
        long used = USED.addAndGet(byteSize);
        try {
            if (used > LIMIT) {
                throw noRoom(byteSize, null);
            }
            return new ResponseBuffer(BLOCKS.take(byteSize), byteSize);
        } catch (GatunException e) {
            USED.addAndGet(-byteSize);
            throw noRoom(byteSize, e);
        } catch (RuntimeException e) {
            USED.addAndGet(-byteSize);
            throw e;
        }
    }

    /** Replaces {@code buffer} by one of at least {@code byteSize} bytes with its content, as {@link #take}. */
    public static ResponseBuffer grow(ResponseBuffer buffer, long usedBytes, long byteSize) {
        // Doubled, so that what grows byte by byte is not copied each time.
        ResponseBuffer grown = take(Math.max(byteSize, Math.min(LIMIT, 2 * buffer.byteSize())));
        MemorySegment.copy(buffer.segment(), 0, grown.segment(), 0, usedBytes);
        buffer.close();
        return grown;
    }

    static void takeBack(ResponseBlocks.Block block, long byteSize) {
        BLOCKS.give(block);
        USED.addAndGet(-byteSize);
    }

    private static IllegalStateException noRoom(long byteSize, @Nullable Throwable cause) {
        return new IllegalStateException(
                "no room for " + byteSize + " bytes of an answer: answers that were not closed hold "
                        + USED.get() + " of the client's " + LIMIT
                        + " bytes; close each answer after the last look at it",
                cause);
    }
}
