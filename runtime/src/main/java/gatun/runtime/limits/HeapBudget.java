// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.limits;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.spi.Setting;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Limits the heap of all requests' long parts, which reserve it first. Thread-safe; never waits. */
public final class HeapBudget {
    /** Bytes of heap that every request may take without a reservation: for its usual texts, shapes and objects. */
    public static final long FREE_BYTE_SIZE = 16 << 10;

    private static final Hold NOTHING = () -> {};

    private final long byteLimit;
    private final AtomicLong used = new AtomicLong();

    /** A budget of {@code byteLimit} bytes. */
    public HeapBudget(long byteLimit) {
        this.byteLimit = byteLimit;
    }

    /**
     * Reserves heap; nothing is counted up to {@link #FREE_BYTE_SIZE}. The caller owns the result, and may close it
     * again. Throws UNAVAILABLE when others have taken too much now, RESOURCE_EXHAUSTED when it could never give that
     * much.
     */
    public Hold reserve(long byteSize) {
        if (byteSize <= FREE_BYTE_SIZE) {
            return NOTHING;
        }
        if (byteSize > byteLimit) {
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "the request needs " + byteSize
                            + " bytes of heap, more than there are for all requests, " + byteLimit
                            + "; the server's " + Setting.LIMIT_HEAP_BYTE_SIZE + " sets it");
        }
        long before = used.get();
        while (byteSize <= byteLimit - before) {
            long seen = used.compareAndExchange(before, before + byteSize);
            if (seen == before) {
                return new Reservation(byteSize);
            }
            before = seen;
        }
        throw new GatunException(
                ErrorCode.UNAVAILABLE,
                "requests have taken " + before + " of the " + byteLimit
                        + " bytes of heap that there are for them, and " + byteSize
                        + " more are needed; try again later");
    }

    /** Bytes reserved now. */
    public long usedBytes() {
        return used.get();
    }

    /** The most bytes that may be reserved at a time. */
    public long byteLimit() {
        return byteLimit;
    }

    private final class Reservation implements Hold {
        private final long byteSize;
        private final AtomicBoolean open = new AtomicBoolean(true);

        Reservation(long byteSize) {
            this.byteSize = byteSize;
        }

        @Override
        public void close() {
            if (open.compareAndSet(true, false)) {
                used.addAndGet(-byteSize);
            }
        }
    }
}
