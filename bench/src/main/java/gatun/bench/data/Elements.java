// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementValues;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Reads and writes single elements of tensors of fixed size. Stateless and safe for any thread. */
public final class Elements {
    private static final ValueLayout.OfByte INT8 = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort INT16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong INT64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FP32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble FP64 =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private Elements() {}

    static boolean isFloatingPoint(Datatype datatype) {
        return switch (datatype) {
            case FP16, BF16, FP32, FP64 -> true;
            default -> false;
        };
    }

    static void put(MemorySegment tensor, Datatype datatype, long index, double value) {
        long offset = index * datatype.byteSize();
        switch (datatype) {
            case FP16 -> tensor.set(INT16, offset, Float.floatToFloat16((float) value));
            case BF16 -> tensor.set(INT16, offset, ElementValues.toBfloat16((float) value));
            case FP32 -> tensor.set(FP32, offset, (float) value);
            case FP64 -> tensor.set(FP64, offset, value);
            default -> throw new IllegalArgumentException(datatype + " is not a floating-point datatype");
        }
    }

    static double get(MemorySegment tensor, Datatype datatype, long index) {
        long offset = index * datatype.byteSize();
        return switch (datatype) {
            case FP16 -> Float.float16ToFloat(tensor.get(INT16, offset));
            case BF16 -> ElementValues.fromBfloat16(tensor.get(INT16, offset));
            case FP32 -> tensor.get(FP32, offset);
            case FP64 -> tensor.get(FP64, offset);
            default -> throw new IllegalArgumentException(datatype + " is not a floating-point datatype");
        };
    }

    /** Writes element {@code index} of a tensor of integers or truth values: the lower bits of {@code value}. */
    static void putBits(MemorySegment tensor, Datatype datatype, long index, long value) {
        long offset = index * datatype.byteSize();
        switch (datatype.byteSize()) {
            case 1 -> tensor.set(INT8, offset, (byte) value);
            case 2 -> tensor.set(INT16, offset, (short) value);
            case 4 -> tensor.set(INT32, offset, (int) value);
            default -> tensor.set(INT64, offset, value);
        }
    }

    /** Element {@code index} of a tensor of fixed size as a text shows it. */
    public static String text(MemorySegment tensor, Datatype datatype, long index) {
        long offset = index * datatype.byteSize();
        return switch (datatype) {
            case FP16, BF16, FP64 -> Double.toString(get(tensor, datatype, index));
            case FP32 -> Float.toString(tensor.get(FP32, offset));
            case BOOL -> tensor.get(INT8, offset) == 0 ? "false" : "true";
            case INT8 -> Byte.toString(tensor.get(INT8, offset));
            case UINT8 -> Integer.toString(Byte.toUnsignedInt(tensor.get(INT8, offset)));
            case INT16 -> Short.toString(tensor.get(INT16, offset));
            case UINT16 -> Integer.toString(Short.toUnsignedInt(tensor.get(INT16, offset)));
            case INT32 -> Integer.toString(tensor.get(INT32, offset));
            case UINT32 -> Integer.toUnsignedString(tensor.get(INT32, offset));
            case INT64 -> Long.toString(tensor.get(INT64, offset));
            case UINT64 -> Long.toUnsignedString(tensor.get(INT64, offset));
            default -> throw new IllegalArgumentException(datatype + " has no numbers of a fixed size");
        };
    }
}
