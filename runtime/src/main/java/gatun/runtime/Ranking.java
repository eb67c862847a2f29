// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** The order of a tensor's elements by size, for each item of a batch. Reads the memory. Not thread-safe. */
public final class Ranking {
    private static final long ELEMENT_LIMIT = 1_000_000;

    /** Up to how many elements C++'s sort, of which Triton's order comes, inserts one after the other. */
    private static final int INSERTED = 16;

    private final Datatype datatype;
    private final MemorySegment bytes;
    private final int items;
    private final int classes;

    private Ranking(Datatype datatype, MemorySegment bytes, int items, int classes) {
        this.datatype = datatype;
        this.bytes = bytes;
        this.items = items;
        this.classes = classes;
    }

    /**
     * The order of the elements; {@code leadingDims} is 1 when the first dimension is the batch, else 0. Throws
     * INVALID_ARGUMENT with Triton's text for more than a million elements, or a datatype without order.
     */
    public static Ranking of(Tensor scores, int leadingDims) {
        requireSupported(scores.spec().datatype());
        Shape shape = scores.spec().shape();
        if (shape.elementCount() > ELEMENT_LIMIT) {
            throw GatunException.invalidArgument("classification output tensor too large");
        }
        int items = leadingDims == 0 ? 1 : Math.toIntExact(shape.dim(0));
        int classes = Math.toIntExact(shape.elementCount(leadingDims));
        return new Ranking(scores.spec().datatype(), scores.bytes(), items, classes);
    }

    /** Throws INVALID_ARGUMENT with Triton's text for a datatype whose elements have no order. */
    public static void requireSupported(Datatype datatype) {
        switch (datatype) {
            default ->
                throw GatunException.invalidArgument(
                        "class result not available for output due to unsupported type '" + datatype.wireName() + "'");
            case UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, FP32, FP64 -> {}
        }
    }

    /** The items of the batch; 1 when there is no batch. */
    public int items() {
        return items;
    }

    /** The elements of each item. */
    public int classes() {
        return classes;
    }

    /**
     * The indices of the {@code count} largest elements of an item, of all when it has fewer: the largest first; of
     * equal ones, such as 0 and -0, the lower index first. NaN has no place in that order: among few elements it stands
     * where Triton has it, among more it comes first.
     */
    public int[] largest(int item, int count) {
        int size = Math.min(count, classes);
        if (size == 0) {
            return new int[0];
        }
        if (isReal() && classes <= INSERTED) {
            return Arrays.copyOf(inserted(item), size);
        }
        // A heap of the best so far, with the worst of them on top.
        int[] heap = new int[size];
        for (int index = 0; index < size; index++) {
            heap[index] = index;
            siftUp(item, heap, index);
        }
        for (int index = size; index < classes; index++) {
            if (isBefore(item, index, heap[0])) {
                heap[0] = index;
                siftDown(item, heap, size);
            }
        }
        for (int end = size - 1; end > 0; end--) {
            swap(heap, 0, end);
            siftDown(item, heap, end);
        }
        return heap;
    }

    /** The indices of all elements, each put before the first or the last ones that it is greater than. */
    private int[] inserted(int item) {
        int[] order = new int[classes];
        for (int index = 1; index < classes; index++) {
            double value = real(item, index);
            int at = index;
            if (value > real(item, order[0])) {
                at = 0;
            } else {
                while (value > real(item, order[at - 1])) {
                    at--;
                }
            }
            System.arraycopy(order, at, order, at + 1, index - at);
            order[at] = index;
        }
        return order;
    }

    /** Whether elements are numbers with fractions. */
    public boolean isReal() {
        return datatype == Datatype.FP32 || datatype == Datatype.FP64;
    }

    /** Whether elements are whole numbers whose highest bit is no sign. */
    public boolean isUnsignedLong() {
        return datatype == Datatype.UINT64;
    }

    /** An element of a tensor of which {@link #isReal} holds. */
    public double real(int item, int index) {
        long element = (long) item * classes + index;
        return datatype == Datatype.FP32
                ? bytes.get(ElementLayouts.FP32, element * Float.BYTES)
                : bytes.get(ElementLayouts.FP64, element * Double.BYTES);
    }

    /** An element of a tensor of which {@link #isReal} does not hold. */
    public long integer(int item, int index) {
        long element = (long) item * classes + index;
        return switch (datatype) {
            case UINT8 -> Byte.toUnsignedLong(bytes.get(ValueLayout.JAVA_BYTE, element));
            case INT8 -> bytes.get(ValueLayout.JAVA_BYTE, element);
            case UINT16 -> Short.toUnsignedLong(bytes.get(ElementLayouts.INT16, element * Short.BYTES));
            case INT16 -> bytes.get(ElementLayouts.INT16, element * Short.BYTES);
            case UINT32 -> Integer.toUnsignedLong(bytes.get(ElementLayouts.INT32, element * Integer.BYTES));
            case INT32 -> bytes.get(ElementLayouts.INT32, element * Integer.BYTES);
            case UINT64, INT64 -> bytes.get(ElementLayouts.INT64, element * Long.BYTES);
            default -> throw new AssertionError("not an integer: " + datatype);
        };
    }

    /** An element as a float, which is as near to it as floats are. */
    public float toFloat(int item, int index) {
        if (isReal()) {
            return (float) real(item, index);
        }
        long value = integer(item, index);
        if (!isUnsignedLong() || value >= 0) {
            return value;
        }
        // Half of it, rounded to odd, is a float that doubling makes exact.
        return ((value >>> 1) | (value & 1)) * 2f;
    }

    /** Whether element {@code a} comes before element {@code b}. */
    private boolean isBefore(int item, int a, int b) {
        int order;
        if (isReal()) {
            order = Double.compare(real(item, b) + 0.0, real(item, a) + 0.0); // which makes 0 of -0
        } else if (isUnsignedLong()) {
            order = Long.compareUnsigned(integer(item, b), integer(item, a));
        } else {
            order = Long.compare(integer(item, b), integer(item, a));
        }
        return order == 0 ? a < b : order < 0;
    }

    private void siftUp(int item, int[] heap, int from) {
        int at = from;
        while (at > 0) {
            int parent = (at - 1) >>> 1;
            if (isBefore(item, heap[at], heap[parent])) {
                return;
            }
            swap(heap, at, parent);
            at = parent;
        }
    }

    private void siftDown(int item, int[] heap, int size) {
        int at = 0;
        while (2 * at + 1 < size) {
            int child = 2 * at + 1;
            if (child + 1 < size && isBefore(item, heap[child], heap[child + 1])) {
                child++;
            }
            if (isBefore(item, heap[child], heap[at])) {
                return;
            }
            swap(heap, at, child);
            at = child;
        }
    }

    private static void swap(int[] heap, int a, int b) {
        int kept = heap[a];
        heap[a] = heap[b];
        heap[b] = kept;
    }
}
