// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import java.util.concurrent.atomic.AtomicReferenceArray;

/** The prepared requests of a lane, by number. Owns them. Safe for any thread. */
final class PreparedTable implements Hold {
    static final int LIMIT = 256;
    /** The most bytes of all requests together, as the client sent them. */
    private static final long BYTE_LIMIT = 256 << 10;

    /** Room for the index in a number; the rest tells apart what was there one after the other. */
    private static final int INDEX_BITS = 8;

    private final Hold heap;
    private final AtomicReferenceArray<Numbered> requests = new AtomicReferenceArray<>(LIMIT);
    private int addedCount; // guarded by this
    private long byteSize; // guarded by this
    private boolean closed; // guarded by this

    private record Numbered(int number, PreparedRequest request) {}

    /** An empty table; {@code heap} was reserved for the lane and is closed with this. */
    PreparedTable(Hold heap) {
        this.heap = heap;
    }

    synchronized int add(PreparedRequest request) {
        try {
            return added(request);
        } catch (GatunException e) {
            request.close();
            throw e;
        }
    }

    private int added(PreparedRequest request) {
        if (closed) {
            throw new GatunException(ErrorCode.UNAVAILABLE, "the lane has ended");
        }
        if (byteSize + request.byteSize() > BYTE_LIMIT) {
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "the prepared requests of the lane have more than " + BYTE_LIMIT
                            + " bytes together: drop some that are not needed");
        }
        for (int i = 0; i < LIMIT; i++) {
            if (requests.get(i) == null) {
                byteSize += request.byteSize();
                // Below the sign, so that every number is one in JSON too.
                int number = (addedCount++ << INDEX_BITS | i) & Integer.MAX_VALUE;
                requests.set(i, new Numbered(number, request));
                return number;
            }
        }
        throw new GatunException(
                ErrorCode.RESOURCE_EXHAUSTED,
                "the lane has " + LIMIT + " prepared requests, the most: drop some that are not needed");
    }

    synchronized void drop(long number) {
        int index = (int) number & LIMIT - 1;
        Numbered present = requests.get(index);
        if (present != null && present.number == number) {
            dropAt(index);
        }
    }

    private void dropAt(int index) {
        Numbered present = requests.getAndSet(index, null);
        if (present != null) {
            byteSize -= present.request.byteSize();
            present.request.close();
        }
    }

    PreparedRequest get(int number) {
        Numbered present = requests.get(number & LIMIT - 1);
        if (present == null || present.number != number) {
            throw new GatunException(
                    ErrorCode.NOT_FOUND,
                    "the lane has no prepared request " + Integer.toUnsignedString(number) + ": prepare it first");
        }
        return present.request;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            for (int i = 0; i < LIMIT; i++) {
                dropAt(i);
            }
            heap.close();
        }
    }
}
