// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import java.util.Arrays;

/** A tensor's dimensions, outermost first; -1 means "any size" in configurations only. Immutable. */
public final class Shape {
    /** The size of a dimension that may be anything. */
    public static final long VARIABLE = -1;

    /** Result of {@link #elementCount()} when a dimension is variable. */
    public static final long UNKNOWN_COUNT = -1;

    /** Result of {@link #elementCount()} when the product exceeds 2^63 - 1 or a dimension is below -1. */
    public static final long OVERFLOW = -2;

    private static final Shape SCALAR = new Shape(new long[0]);

    private final long[] dims;

    private Shape(long[] dims) {
        this.dims = dims;
    }

    /** A shape of these dimensions; the array is copied. */
    public static Shape of(long... dims) {
        return dims.length == 0 ? SCALAR : new Shape(dims.clone());
    }

    /** A shape of the first {@code rank} of these dimensions, which are copied. */
    public static Shape ofFirst(long[] dims, int rank) {
        return rank == 0 ? SCALAR : new Shape(Arrays.copyOf(dims, rank));
    }

    /** How many dimensions there are; 0 for a scalar. */
    public int rank() {
        return dims.length;
    }

    /** The size of dimension {@code index}, outermost first. */
    public long dim(int index) {
        return dims[index];
    }

    /** A copy of the dimensions. */
    public long[] toArray() {
        return dims.clone();
    }

    /** The product of all dimensions, 1 for a scalar, or {@link #UNKNOWN_COUNT} or {@link #OVERFLOW}. */
    public long elementCount() {
        return elementCount(0);
    }

    /** The product from dimension {@code firstDim} on, with the same special results as {@link #elementCount()}. */
    public long elementCount(int firstDim) {
        long count = 1;
        boolean variable = false;
        boolean zero = false;
        for (int i = firstDim; i < dims.length; i++) {
            long dim = dims[i];
            if (dim < VARIABLE) {
                return OVERFLOW;
            }
            if (dim == VARIABLE) {
                variable = true;
                continue;
            }
            zero |= dim == 0;
            if (zero) {
                continue;
            }
            if (Math.multiplyHigh(count, dim) != 0 || count * dim < 0) {
                return OVERFLOW;
            }
            count *= dim;
        }
        if (variable) {
            return UNKNOWN_COUNT;
        }
        return zero ? 0 : count;
    }

    /** Bytes of a tensor of this shape; {@link #UNKNOWN_COUNT} for BYTES, otherwise as {@link #elementCount()}. */
    public long byteSize(Datatype datatype) {
        if (!datatype.isFixedSize()) {
            return UNKNOWN_COUNT;
        }
        long count = elementCount();
        if (count < 0) {
            return count;
        }
        return Math.multiplyHigh(count, datatype.byteSize()) != 0 || count * datatype.byteSize() < 0
                ? OVERFLOW
                : count * datatype.byteSize();
    }

    /** Whether no dimension is variable. */
    public boolean isFixed() {
        for (long dim : dims) {
            if (dim == VARIABLE) {
                return false;
            }
        }
        return true;
    }

    /** This shape with one more dimension in front. */
    public Shape prepend(long dim) {
        long[] longer = new long[dims.length + 1];
        longer[0] = dim;
        System.arraycopy(dims, 0, longer, 1, dims.length);
        return new Shape(longer);
    }

    /** This shape without its first dimension; it must have one. */
    public Shape withoutFirst() {
        return dims.length == 1 ? SCALAR : new Shape(Arrays.copyOfRange(dims, 1, dims.length));
    }

    /** This shape with another first dimension; it must have one. */
    public Shape withFirst(long dim) {
        long[] changed = dims.clone();
        changed[0] = dim;
        return new Shape(changed);
    }

    /** Whether {@code actual} has the same rank, and the same size wherever this one is not variable. */
    public boolean accepts(Shape actual) {
        if (actual.dims.length != dims.length) {
            return false;
        }
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] != VARIABLE && dims[i] != actual.dims[i]) {
                return false;
            }
        }
        return true;
    }

    /** Whether both have as many dimensions, and the same ones but for the first. */
    public boolean equalsAfterFirst(Shape other) {
        return dims.length == other.dims.length
                && Arrays.equals(
                        dims, Math.min(1, dims.length), dims.length, other.dims, Math.min(1, dims.length), dims.length);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Shape shape && Arrays.equals(dims, shape.dims);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(dims);
    }

    /** As error texts print it: {@code [1,2]}, without blanks. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("[");
        for (int i = 0; i < dims.length; i++) {
            if (i > 0) {
                text.append(',');
            }
            text.append(dims[i]);
        }
        return text.append(']').toString();
    }
}
