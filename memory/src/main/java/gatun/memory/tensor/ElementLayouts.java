// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * How elements of more than one byte lie in a tensor: little-endian on every machine, since so they are on the wire,
 * and at any address, since tensors in one buffer follow each other without padding. An unsigned integer lies as the
 * signed one of its size, and the bits of a 16-bit float as an {@link #INT16}.
 */
public final class ElementLayouts {
    /** INT16, UINT16, FP16 and BF16. */
    public static final ValueLayout.OfShort INT16 = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** INT32 and UINT32, and the length before each element of a BYTES tensor. */
    public static final ValueLayout.OfInt INT32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** INT64 and UINT64. */
    public static final ValueLayout.OfLong INT64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** FP32. */
    public static final ValueLayout.OfFloat FP32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** FP64. */
    public static final ValueLayout.OfDouble FP64 =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private ElementLayouts() {}
}
