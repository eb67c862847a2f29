// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import com.fasterxml.jackson.core.JsonGenerator;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Tensor;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/** Writes the elements of tensors as JSON. Stateless and safe for any thread. */
final class JsonTensorWriter {
    private static final ValueLayout.OfShort INT16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong INT64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FP32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble FP64 =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private JsonTensorWriter() {}

    /**
     * Writes a flat array of all elements.
     *
     * @throws IllegalArgumentException for a tensor that JSON has no form for
     */
    static void write(JsonGenerator json, Tensor tensor) throws IOException {
        json.writeStartArray();
        MemorySegment bytes = tensor.bytes();
        switch (tensor.spec().datatype()) {
            case BYTES -> strings(json, tensor);
            case BOOL, UINT8, UINT16, UINT32, UINT64, INT8, INT16, INT32, INT64, FP32, FP64 -> {
                int size = tensor.spec().datatype().byteSize();
                for (long at = 0; at < bytes.byteSize(); at += size) {
                    element(json, tensor, bytes, at);
                }
            }
            default ->
                throw new IllegalArgumentException(
                        "tensor '" + tensor.spec().name() + "' " + tensor.spec().datatype()
                                + " has no form in JSON: send binary tensors (withBinaryTensors(true))");
        }
        json.writeEndArray();
    }

    private static void element(JsonGenerator json, Tensor tensor, MemorySegment bytes, long at) throws IOException {
        switch (tensor.spec().datatype()) {
            case BOOL -> json.writeBoolean(bytes.get(ValueLayout.JAVA_BYTE, at) != 0);
            case INT8 -> json.writeNumber((int) bytes.get(ValueLayout.JAVA_BYTE, at));
            case UINT8 -> json.writeNumber(Byte.toUnsignedInt(bytes.get(ValueLayout.JAVA_BYTE, at)));
            case INT16 -> json.writeNumber((int) bytes.get(INT16, at));
            case UINT16 -> json.writeNumber(Short.toUnsignedInt(bytes.get(INT16, at)));
            case INT32 -> json.writeNumber(bytes.get(INT32, at));
            case UINT32 -> json.writeNumber(Integer.toUnsignedLong(bytes.get(INT32, at)));
            case INT64 -> json.writeNumber(bytes.get(INT64, at));
            case UINT64 -> unsigned(json, bytes.get(INT64, at));
            case FP32 -> json.writeNumber(bytes.get(FP32, at));
            case FP64 -> json.writeNumber(bytes.get(FP64, at));
            default -> throw new AssertionError(tensor.spec());
        }
    }

    private static void unsigned(JsonGenerator json, long value) throws IOException {
        if (value < 0) {
            json.writeNumber(Long.toUnsignedString(value));
        } else {
            json.writeNumber(value);
        }
    }

    private static void strings(JsonGenerator json, Tensor tensor) throws IOException {
        MemorySegment bytes = tensor.bytes();
        if (BytesCodec.check(bytes, tensor.spec().shape().elementCount()) != BytesCodec.Check.Complete.COMPLETE) {
            throw new IllegalArgumentException("tensor '" + tensor.spec().name() + "' BYTES "
                    + tensor.spec().shape()
                    + ": expected " + tensor.spec().shape().elementCount()
                    + " elements, each with its length in 4 bytes before it");
        }
        for (long at = 0; at < bytes.byteSize(); ) {
            long size = BytesCodec.elementByteSize(bytes, at);
            ByteBuffer element =
                    bytes.asSlice(at + BytesCodec.LENGTH_BYTES, size).asByteBuffer();
            try {
                json.writeString(
                        StandardCharsets.UTF_8.newDecoder().decode(element).toString());
            } catch (CharacterCodingException e) {
                throw new IllegalArgumentException(
                        "tensor '" + tensor.spec().name() + "' has an element at byte " + at
                                + " that is no text in UTF-8, so that JSON has no form for it:"
                                + " send binary tensors (withBinaryTensors(true))",
                        e);
            }
            at += BytesCodec.LENGTH_BYTES + size;
        }
    }
}
