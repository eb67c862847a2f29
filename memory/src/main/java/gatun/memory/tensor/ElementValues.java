// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

/** Elements of a fixed size as Java's numbers and as texts. Stateless. */
public final class ElementValues {
    private static final int NOT_A_NUMBER = 0x40;
    private static final int ALMOST_HALF = 0x7FFF;

    private ElementValues() {}

    /** The value of a BF16 element. */
    public static float fromBfloat16(short bits) {
        return Float.intBitsToFloat(bits << Short.SIZE);
    }

    /** The nearest BF16 element, with an even last digit between two; what is beyond the greatest is infinite. */
    public static short toBfloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            return (short) ((bits >>> Short.SIZE) | NOT_A_NUMBER);
        }
        int lastDigit = (bits >>> Short.SIZE) & 1;
        return (short) ((bits + ALMOST_HALF + lastDigit) >>> Short.SIZE);
    }

    /** The element at {@code offset}; of datatypes without numbers of Java's, its bytes in hexadecimal digits. */
    public static String text(Datatype datatype, MemorySegment bytes, long offset) {
        return switch (datatype) {
            case BOOL -> Boolean.toString(bytes.get(ValueLayout.JAVA_BYTE, offset) != 0);
            case INT8 -> Byte.toString(bytes.get(ValueLayout.JAVA_BYTE, offset));
            case UINT8 -> Integer.toString(Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, offset)));
            case INT16 -> Short.toString(bytes.get(ElementLayouts.INT16, offset));
            case UINT16 -> Integer.toString(Short.toUnsignedInt(bytes.get(ElementLayouts.INT16, offset)));
            case INT32 -> Integer.toString(bytes.get(ElementLayouts.INT32, offset));
            case UINT32 -> Integer.toUnsignedString(bytes.get(ElementLayouts.INT32, offset));
            case INT64 -> Long.toString(bytes.get(ElementLayouts.INT64, offset));
            case UINT64 -> Long.toUnsignedString(bytes.get(ElementLayouts.INT64, offset));
            case FP16 -> Float.toString(Float.float16ToFloat(bytes.get(ElementLayouts.INT16, offset)));
            case BF16 -> Float.toString(fromBfloat16(bytes.get(ElementLayouts.INT16, offset)));
            case FP32 -> Float.toString(bytes.get(ElementLayouts.FP32, offset));
            case FP64 -> Double.toString(bytes.get(ElementLayouts.FP64, offset));
            case BYTES, INVALID -> throw new IllegalArgumentException(datatype + " has no elements of a fixed size");
            default ->
                "0x"
                        + HexFormat.of()
                                .formatHex(bytes.asSlice(offset, datatype.byteSize())
                                        .toArray(ValueLayout.JAVA_BYTE));
        };
    }
}
