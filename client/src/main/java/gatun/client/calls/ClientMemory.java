// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.client.MalformedResponseException;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;

/**
 * The native memory that responses lie in, lent by one pool for all clients of the process: memory of a pool is never
 * unmapped, so that a tensor of a response that was closed shows other bytes at worst. Safe for any thread.
 */
public final class ClientMemory {
    private static final long LIMIT = 1L << 34;
    /** Where address space is short, down to this. */
    private static final long LEAST_LIMIT = 1L << 26;

    private ClientMemory() {}

    /** Made with the first response; only address space is taken for it then. */
    private static final class Pool {
        static final BufferPool POOL = open();
    }

    /** The largest response that there can be room for, in bytes. */
    public static long limit() {
        return Pool.POOL.byteLimit();
    }

    /**
     * Lends {@code byteSize} bytes, aligned to 64, with undefined content.
     *
     * @throws IllegalStateException when responses that were not closed hold too much of the memory
     * @throws MalformedResponseException when it is more than any response may have
     */
    public static Buffer take(long byteSize) {
        BufferPool pool = Pool.POOL;
        if (byteSize > pool.byteLimit()) {
            throw tooLarge(byteSize, pool);
        }
        try {
            return pool.take(byteSize);
        } catch (GatunException e) {
            throw noRoom(byteSize, pool, e);
        }
    }

    /**
     * A buffer of at least {@code byteSize} bytes that begins as {@code buffer}, which it takes the place of. Otherwise
     * as {@link #take}.
     */
    public static Buffer grow(Buffer buffer, long usedBytes, long byteSize) {
        BufferPool pool = Pool.POOL;
        if (byteSize > pool.byteLimit()) {
            throw tooLarge(byteSize, pool);
        }
        try {
            return pool.grow(buffer, usedBytes, byteSize);
        } catch (GatunException e) {
            throw noRoom(byteSize, pool, e);
        }
    }

    private static BufferPool open() {
        for (long limit = LIMIT; ; limit /= 2) {
            try {
                return new BufferPool(limit);
            } catch (GatunException e) {
                if (limit == LEAST_LIMIT || e.code() != ErrorCode.INTERNAL) {
                    throw new IllegalStateException(
                            "the client cannot reserve " + limit + " bytes of address space for answers", e);
                }
            }
        }
    }

    private static MalformedResponseException tooLarge(long byteSize, BufferPool pool) {
        return new MalformedResponseException(
                "an answer of " + byteSize + " bytes: expected at most " + pool.byteLimit() + ", the client's limit");
    }

    private static IllegalStateException noRoom(long byteSize, BufferPool pool, GatunException cause) {
        return new IllegalStateException(
                "no room for " + byteSize + " bytes of an answer: answers that were not closed hold "
                        + pool.usedBytes() + " of the client's " + pool.byteLimit()
                        + " bytes; close each answer after the last look at it",
                cause);
    }
}
