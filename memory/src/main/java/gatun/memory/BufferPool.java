package gatun.memory;

import java.lang.foreign.Arena;
import java.util.concurrent.atomic.AtomicLong;

/** Lends native memory up to a limit. Safe for any thread. */
public final class BufferPool implements AutoCloseable {
    private static final int ALIGNMENT = 64;

    private final long byteLimit;
    private final AtomicLong used = new AtomicLong();

    /** A pool that has at most {@code byteLimit} bytes lent at a time. */
    public BufferPool(long byteLimit) {
        this.byteLimit = byteLimit;
    }

    /**
     * Lends {@code byteSize} bytes, aligned to 64, with undefined content.
     *
     * @throws GatunException UNAVAILABLE when the pool has no room now, INVALID_ARGUMENT when it never could
     */
    public Buffer take(long byteSize) {
        if (byteSize > byteLimit) {
            throw GatunException.invalidArgument("a buffer of " + byteSize + " bytes is more than the pool's limit of "
                    + byteLimit + " bytes; start the server with a larger --buffer-pool-byte-size");
        }
        if (used.addAndGet(byteSize) > byteLimit) {
            used.addAndGet(-byteSize);
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "the buffer pool has no " + byteSize + " bytes left of its " + byteLimit + "; try again later");
        }
        Arena arena = Arena.ofShared();
        return new Buffer(arena, arena.allocate(byteSize, ALIGNMENT), () -> used.addAndGet(-byteSize));
    }

    /** The most bytes that may be lent at a time. */
    public long byteLimit() {
        return byteLimit;
    }

    /** Bytes lent now. */
    public long usedBytes() {
        return used.get();
    }

    /** Gives the memory back to the system; no buffer may be lent any more. */
    @Override
    public void close() {}
}
