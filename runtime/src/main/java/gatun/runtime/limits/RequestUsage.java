// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.limits;

import gatun.memory.tensor.Hold;

/**
 * The part of its limits that one request has used so far, and the heap that is reserved for it. Whoever reads the
 * request counts each thing before it makes it. Small requests reserve nothing. Not thread-safe; closed by its owner,
 * perhaps by another thread later.
 */
public final class RequestUsage implements Hold {
    /** Bytes that a text counts beside its own, so that empty ones are not free. */
    public static final int TEXT_BYTE_SIZE = 16;

    /** The heap that a text takes beside its bytes. */
    private static final int TEXT_HEAP = 64;

    /** A text may take two bytes of heap for each of its own, and is copied once while it is made. */
    private static final int HEAP_PER_TEXT_BYTE = 3;

    /** The heap of an input or a requested output: its objects, and those of its buffers, leases and shapes. */
    private static final int TENSOR_HEAP = 768;

    private static final int PARAMETER_HEAP = 256;

    /** The heap of a dimension of a shape, and of what an error shows of it. */
    private static final int DIMENSION_HEAP = 64;

    private static final Hold NOTHING = () -> {};

    private final RequestLimits limits;
    private final HeapBudget heap;

    private long textBytes;
    private int parameters;
    private int dimensions;
    private long heapBytes;
    private long reservedBytes = HeapBudget.FREE_BYTE_SIZE;
    private Hold reservation = NOTHING;

    /** Nothing used of {@code limits}; what is long is reserved from {@code heap}. */
    public RequestUsage(RequestLimits limits, HeapBudget heap) {
        this.limits = limits;
        this.heap = heap;
    }

    /** The standard limits with a heap budget of its own: for data that no client sent. */
    public static RequestUsage standard() {
        return new RequestUsage(RequestLimits.STANDARD, new HeapBudget(Long.MAX_VALUE));
    }

    /**
     * Counts a text of at most {@link RequestLimits#textByteSize} bytes.
     *
     * @throws gatun.memory.tensor.GatunException RESOURCE_EXHAUSTED when it and those before it are too long; as
     *     {@link HeapBudget#reserve}
     */
    public void addText(long byteSize) {
        textBytes += byteSize + TEXT_BYTE_SIZE;
        limits.requireTexts(textBytes);
        take(TEXT_HEAP + HEAP_PER_TEXT_BYTE * byteSize);
    }

    /**
     * Counts one more input or requested output.
     *
     * @param count how many there are of its kind with it
     * @param what {@code inputs} or {@code outputs}
     * @throws gatun.memory.tensor.GatunException RESOURCE_EXHAUSTED when there are too many; as
     *     {@link HeapBudget#reserve}
     */
    public void addTensor(int count, String what) {
        limits.requireTensors(count, what);
        take(TENSOR_HEAP);
    }

    /**
     * Counts one more parameter.
     *
     * @throws gatun.memory.tensor.GatunException RESOURCE_EXHAUSTED when there are too many; as
     *     {@link HeapBudget#reserve}
     */
    public void addParameter() {
        limits.requireParameters(++parameters);
        take(PARAMETER_HEAP);
    }

    /**
     * Counts one more dimension of a shape.
     *
     * @throws gatun.memory.tensor.GatunException RESOURCE_EXHAUSTED when there are too many; as
     *     {@link HeapBudget#reserve}
     */
    public void addDimension() {
        limits.requireDimensions(++dimensions);
        take(DIMENSION_HEAP);
    }

    /**
     * Counts heap of any other kind.
     *
     * @throws gatun.memory.tensor.GatunException as {@link HeapBudget#reserve}
     */
    public void take(long byteSize) {
        heapBytes += byteSize;
        if (heapBytes > reservedBytes) {
            reserveMore();
        }
    }

    private void reserveMore() {
        long wanted = Math.max(2 * reservedBytes, heapBytes);
        Hold more = heap.reserve(wanted);
        reservation.close();
        reservation = more;
        reservedBytes = wanted;
    }

    /** The limits that are counted against. */
    public RequestLimits limits() {
        return limits;
    }

    /** Makes this the usage of another request. Only for one that {@linkplain #holdsHeap holds no heap}. */
    public void restart() {
        textBytes = 0;
        parameters = 0;
        dimensions = 0;
        heapBytes = 0;
    }

    /** Whether there is anything to give back by {@link #close}. */
    public boolean holdsHeap() {
        return reservedBytes > HeapBudget.FREE_BYTE_SIZE;
    }

    @Override
    public void close() {
        reservation.close();
    }
}
