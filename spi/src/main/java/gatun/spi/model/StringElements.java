// SPDX-License-Identifier: Apache-2.0
package gatun.spi.model;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import java.lang.foreign.MemorySegment;

/** Reads the elements of BYTES tensors for engines that keep strings as objects of their own. */
public final class StringElements {
    private StringElements() {}

    /** Takes one element. */
    @FunctionalInterface
    public interface Reader {
        /** Takes element {@code index}: {@code length} bytes at {@code at}, which may change meanwhile. */
        void read(long index, MemorySegment bytes, long at, long length);
    }

    /**
     * Reads every element. Each length is read once and checked against the memory, which may be a client's and change
     * at any time. Throws INVALID_ARGUMENT when an element reaches beyond the tensor.
     */
    public static void read(Tensor tensor, Reader reader) {
        MemorySegment bytes = tensor.bytes();
        long count = tensor.spec().shape().elementCount();
        long at = 0;
        for (long i = 0; i < count; i++) {
            long length = at + BytesCodec.LENGTH_BYTES <= bytes.byteSize()
                    ? Integer.toUnsignedLong(bytes.get(ElementLayouts.INT32, at))
                    : Long.MAX_VALUE;
            at += BytesCodec.LENGTH_BYTES;
            if (length > bytes.byteSize() - at) {
                throw GatunException.invalidArgument("element " + i + " of input '"
                        + tensor.spec().name() + "' reaches beyond the tensor's " + bytes.byteSize() + " bytes");
            }
            reader.read(i, bytes, at, length);
            at += length;
        }
    }
}
