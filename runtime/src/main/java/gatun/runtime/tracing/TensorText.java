// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import com.google.gson.JsonPrimitive;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.TensorSpec;
import java.io.IOException;
import java.io.Writer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Tensors as traces tell them. */
final class TensorText {
    private TensorText() {}

    /** The dimensions, separated by commas. */
    static String shape(TensorSpec spec) {
        return LongStream.of(spec.shape().toArray()).mapToObj(Long::toString).collect(Collectors.joining(","));
    }

    /**
     * Writes elements, separated by commas, as they stand within a string of JSON; those of BYTES in quotation marks,
     * as Triton has them. Bytes that end within an element end the text before it.
     */
    static void write(Datatype datatype, MemorySegment bytes, Writer out) throws IOException {
        if (datatype == Datatype.BYTES) {
            writeTexts(bytes, out);
            return;
        }
        int size = datatype.byteSize();
        for (long at = 0; at <= bytes.byteSize() - size; at += size) {
            if (at > 0) {
                out.append(',');
            }
            out.append(element(datatype, bytes, at));
        }
    }

    private static void writeTexts(MemorySegment bytes, Writer out) throws IOException {
        for (long at = 0; at <= bytes.byteSize() - BytesCodec.LENGTH_BYTES; ) {
            long length = Integer.toUnsignedLong(bytes.get(ElementLayouts.INT32, at));
            long begin = at + BytesCodec.LENGTH_BYTES;
            if (length > bytes.byteSize() - begin) {
                return;
            }
            byte[] element = bytes.asSlice(begin, length).toArray(ValueLayout.JAVA_BYTE);
            String quoted = new JsonPrimitive(new String(element, StandardCharsets.UTF_8)).toString();
            out.append(at == 0 ? "\\\"" : ",\\\"");
            out.append(quoted, 1, quoted.length() - 1).append("\\\"");
            at = begin + length;
        }
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
            default ->
                "0x"
                        + HexFormat.of()
                                .formatHex(
                                        bytes.asSlice(at, datatype.byteSize()).toArray(ValueLayout.JAVA_BYTE));
            case BYTES, INVALID -> throw new IllegalArgumentException(datatype + " has no elements of a fixed size");
        };
    }
}
