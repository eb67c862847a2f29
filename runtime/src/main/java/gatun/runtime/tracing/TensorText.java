package gatun.runtime.tracing;

import gatun.memory.BytesCodec;
import gatun.memory.Datatype;
import gatun.memory.ElementLayouts;
import gatun.memory.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.StringJoiner;

/** The elements of a tensor as text. */
final class TensorText {
    private TensorText() {}

    /** The elements, separated by commas. */
    static String of(Tensor tensor) {
        StringJoiner text = new StringJoiner(",");
        MemorySegment bytes = tensor.bytes();
        Datatype datatype = tensor.spec().datatype();
        if (datatype == Datatype.BYTES) {
            for (long at = 0; at < bytes.byteSize(); ) {
                long byteSize = BytesCodec.elementByteSize(bytes, at);
                byte[] element =
                        bytes.asSlice(at + BytesCodec.LENGTH_BYTES, byteSize).toArray(ValueLayout.JAVA_BYTE);
                text.add(new String(element, StandardCharsets.UTF_8));
                at += BytesCodec.LENGTH_BYTES + byteSize;
            }
            return text.toString();
        }
        for (long at = 0; at < bytes.byteSize(); at += datatype.byteSize()) {
            text.add(element(datatype, bytes, at));
        }
        return text.toString();
    }

    private static String element(Datatype datatype, MemorySegment bytes, long at) {
        return switch (datatype) {
            case BOOL -> bytes.get(ValueLayout.JAVA_BYTE, at) == 0 ? "0" : "1";
            case INT8 -> Byte.toString(bytes.get(ValueLayout.JAVA_BYTE, at));
            case UINT8 -> Integer.toString(Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, at)));
            case INT16 -> Short.toString(bytes.get(ElementLayouts.INT16, at));
            case UINT16 -> Integer.toString(Short.toUnsignedInt(bytes.get(ElementLayouts.INT16, at)));
            case INT32 -> Integer.toString(bytes.get(ElementLayouts.INT32, at));
            case UINT32 -> Integer.toUnsignedString(bytes.get(ElementLayouts.INT32, at));
            case INT64 -> Long.toString(bytes.get(ElementLayouts.INT64, at));
            case UINT64 -> Long.toUnsignedString(bytes.get(ElementLayouts.INT64, at));
            case FP16 -> Float.toString(Float.float16ToFloat(bytes.get(ElementLayouts.INT16, at)));
            case BF16 -> Float.toString(Float.intBitsToFloat(bytes.get(ElementLayouts.INT16, at) << Short.SIZE));
            case FP32 -> Float.toString(bytes.get(ElementLayouts.FP32, at));
            case FP64 -> Double.toString(bytes.get(ElementLayouts.FP64, at));
            case BYTES, INVALID -> throw new IllegalArgumentException(datatype + " has no elements of a fixed size");
        };
    }
}
