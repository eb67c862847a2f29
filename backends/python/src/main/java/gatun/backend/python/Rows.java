// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The bytes of rows, by the first dimension. */
final class Rows {
    private static final ValueLayout.OfInt LENGTH = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Rows() {}

    /** The bytes of {@code count} rows of a tensor, from row {@code first} on. */
    static MemorySegment slice(Tensor tensor, long first, long count) {
        MemorySegment bytes = tensor.bytes();
        long rows = tensor.spec().shape().dim(0);
        if (tensor.spec().datatype().isFixedSize()) {
            long rowBytes = bytes.byteSize() / rows;
            return bytes.asSlice(first * rowBytes, count * rowBytes);
        }
        long elements = tensor.spec().shape().elementCount(1);
        long from = skip(bytes, 0, first * elements);
        return bytes.asSlice(from, skip(bytes, from, count * elements) - from);
    }

    /** Where the element lies that comes {@code elements} after that at {@code offset}. */
    private static long skip(MemorySegment bytes, long offset, long elements) {
        long at = offset;
        for (long i = 0; i < elements; i++) {
            at += Integer.BYTES + Integer.toUnsignedLong(bytes.get(LENGTH, at));
        }
        return at;
    }
}
