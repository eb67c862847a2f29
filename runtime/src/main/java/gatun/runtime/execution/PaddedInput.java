// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * One padded tensor made of those that the requests of a run bring as one input: where they differ in another dimension
 * than the first, each is filled up with zeros or empty strings; rows that are missing at the end are copies of the
 * first row of the last tensor. Used once, by one thread.
 */
final class PaddedInput {
    private final List<Tensor> pieces;
    private final Shape whole;
    private final Datatype datatype;

    /** Bytes of one element of padding. */
    private final int unit;

    // Where the next element is read and written.
    private MemorySegment source = MemorySegment.NULL;
    private MemorySegment target = MemorySegment.NULL;
    private long from;
    private long to;

    /**
     * @param tensors of one rank, and not without rows; {@code whole} is no smaller in any dimension than any of them
     */
    PaddedInput(List<Tensor> tensors, Shape whole) {
        this.whole = whole;
        pieces = new ArrayList<>(tensors);
        TensorSpec spec = tensors.getFirst().spec();
        datatype = spec.datatype();
        unit = datatype == Datatype.BYTES ? BytesCodec.LENGTH_BYTES : datatype.byteSize();
        long rows = whole.dim(0);
        for (Tensor tensor : tensors) {
            rows -= tensor.spec().shape().dim(0);
        }
        Tensor first = firstRow(tensors.getLast());
        for (; rows > 0; rows--) {
            pieces.add(first);
        }
    }

    /**
     * The shape that tensors can be filled up to: the most that one of them has in each dimension, and {@code rows} in
     * front.
     */
    static Shape shape(List<Tensor> tensors, int rows) {
        long[] dims = tensors.getFirst().spec().shape().toArray();
        for (Tensor tensor : tensors) {
            Shape shape = tensor.spec().shape();
            for (int i = 1; i < dims.length; i++) {
                dims[i] = Math.max(dims[i], shape.dim(i));
            }
        }
        dims[0] = rows;
        return Shape.of(dims);
    }

    private Tensor firstRow(Tensor tensor) {
        TensorSpec spec = tensor.spec();
        Shape shape = spec.shape().withFirst(1);
        long byteSize = byteSize(tensor.bytes(), 0, shape.elementCount());
        return tensor.slice(new TensorSpec(spec.name(), datatype, shape), 0, byteSize);
    }

    /** The bytes of the {@code count} elements that begin at {@code start}. */
    private long byteSize(MemorySegment bytes, long start, long count) {
        if (datatype != Datatype.BYTES) {
            return count * unit;
        }
        return BytesCodec.skip(bytes, start, count) - start;
    }

    /** The bytes of the whole input. */
    long byteSize() {
        long missing = whole.elementCount();
        long present = 0;
        for (Tensor piece : pieces) {
            missing -= piece.spec().shape().elementCount();
            present += piece.byteSize();
        }
        return present + missing * unit;
    }

    /** Writes the whole input into memory of exactly its size. */
    void write(MemorySegment memory) {
        target = memory;
        to = 0;
        for (Tensor piece : pieces) {
            source = piece.bytes();
            from = 0;
            Shape own = piece.spec().shape();
            if (own.equalsAfterFirst(whole)) {
                copy(own.elementCount());
            } else {
                for (long row = own.dim(0); row > 0; row--) {
                    write(own, 1);
                }
            }
        }
    }

    /** Writes one block of the dimensions from {@code dim} on. */
    private void write(Shape own, int dim) {
        if (dim == own.rank()) {
            copy(1);
            return;
        }
        boolean last = dim == own.rank() - 1;
        if (last) {
            copy(own.dim(dim));
        } else {
            for (long i = own.dim(dim); i > 0; i--) {
                write(own, dim + 1);
            }
        }
        long below = 1;
        for (int i = dim + 1; i < whole.rank(); i++) {
            below *= whole.dim(i);
        }
        fill((whole.dim(dim) - own.dim(dim)) * below);
    }

    private void copy(long count) {
        long byteSize = byteSize(source, from, count);
        TensorCopy.copy(source.asSlice(from, byteSize), target.asSlice(to, byteSize));
        from += byteSize;
        to += byteSize;
    }

    /** Zeros, or as many empty strings: both are bytes of zero. */
    private void fill(long count) {
        target.asSlice(to, count * unit).fill((byte) 0);
        to += count * unit;
    }
}
