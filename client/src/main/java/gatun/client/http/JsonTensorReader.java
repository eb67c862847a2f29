// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import gatun.client.MalformedResponseException;
import gatun.client.calls.ClientMemory;
import gatun.client.calls.ResponseBuffer;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Reads a tensor's elements from JSON, flat or nested, into native memory. Stateless. */
final class JsonTensorReader {
    private static final ValueLayout.OfShort INT16 =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT32 = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong INT64 = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FP32 = ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble FP64 =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final BigInteger UINT64_END = BigInteger.ONE.shiftLeft(Long.SIZE);
    private static final int FIRST_BYTES = 4096;

    private JsonTensorReader() {}

    /** Reads the array whose beginning {@code json} is at, to its end. The caller closes the memory of the elements. */
    static InferLayout.Parsed read(JsonParser json, TensorSpec spec) throws IOException {
        if (json.currentToken() != JsonToken.START_ARRAY) {
            throw new MalformedResponseException("the data of its output '" + spec.name() + "' is no array");
        }
        long count = spec.shape().elementCount();
        if (spec.datatype() == Datatype.BYTES) {
            return strings(json, spec, count);
        }
        if (spec.datatype() == Datatype.FP16 || spec.datatype() == Datatype.BF16) {
            throw new MalformedResponseException("its output '" + spec.name() + "' " + spec.datatype()
                    + " came as JSON, which the protocol has no form for: ask for binary tensors");
        }
        long size = spec.datatype().byteSize();
        ResponseBuffer buffer = ClientMemory.take(count * size);
        try {
            MemorySegment elements = buffer.segment();
            long found = 0;
            Leaves leaves = new Leaves(json);
            for (JsonToken leaf = leaves.next(); leaf != JsonToken.END_ARRAY; leaf = leaves.next()) {
                if (found == count) {
                    throw wrongCount(spec, "more than " + count, count);
                }
                element(json, leaf, spec, elements, found * size);
                found++;
            }
            if (found != count) {
                throw wrongCount(spec, Long.toString(found), count);
            }
            return new InferLayout.Parsed(spec, buffer, count * size);
        } catch (Throwable t) {
            buffer.close();
            throw t;
        }
    }

    private static InferLayout.Parsed strings(JsonParser json, TensorSpec spec, long count) throws IOException {
        GrowingBuffer elements = new GrowingBuffer(FIRST_BYTES);
        try {
            long found = 0;
            byte[] length = new byte[Integer.BYTES];
            Leaves leaves = new Leaves(json);
            for (JsonToken leaf = leaves.next(); leaf != JsonToken.END_ARRAY; leaf = leaves.next()) {
                if (leaf != JsonToken.VALUE_STRING) {
                    throw wrongElement(spec, json, "a string");
                }
                byte[] text = json.getText().getBytes(StandardCharsets.UTF_8);
                MemorySegment.ofArray(length).set(INT32, 0, text.length);
                elements.write(length, 0, length.length);
                elements.write(text, 0, text.length);
                found++;
            }
            if (found != count) {
                throw wrongCount(spec, Long.toString(found), count);
            }
            return new InferLayout.Parsed(spec, elements.buffer(), elements.byteSize());
        } catch (Throwable t) {
            elements.close();
            throw t;
        }
    }

    /** The elements of an array; their nesting is ignored. */
    private static final class Leaves {
        private final JsonParser json;
        private int depth = 1;

        Leaves(JsonParser json) {
            this.json = json;
        }

        /** The next element, or the end of the outermost array. */
        JsonToken next() throws IOException {
            while (true) {
                JsonToken token = json.nextToken();
                if (token == null) {
                    throw new MalformedResponseException("its JSON ends within an array");
                }
                switch (token) {
                    case START_ARRAY -> depth++;
                    case END_ARRAY -> depth--;
                    default -> {
                        return token;
                    }
                }
                if (depth == 0) {
                    return token;
                }
            }
        }
    }

    private static void element(JsonParser json, JsonToken leaf, TensorSpec spec, MemorySegment target, long at)
            throws IOException {
        switch (spec.datatype()) {
            case BOOL -> target.set(ValueLayout.JAVA_BYTE, at, bool(json, leaf, spec));
            case INT8 -> target.set(ValueLayout.JAVA_BYTE, at, (byte) integer(json, leaf, spec, -(1L << 7), 1L << 7));
            case UINT8 -> target.set(ValueLayout.JAVA_BYTE, at, (byte) integer(json, leaf, spec, 0, 1L << 8));
            case INT16 -> target.set(INT16, at, (short) integer(json, leaf, spec, -(1L << 15), 1L << 15));
            case UINT16 -> target.set(INT16, at, (short) integer(json, leaf, spec, 0, 1L << 16));
            case INT32 -> target.set(INT32, at, (int) integer(json, leaf, spec, -(1L << 31), 1L << 31));
            case UINT32 -> target.set(INT32, at, (int) integer(json, leaf, spec, 0, 1L << 32));
            case INT64 -> target.set(INT64, at, long64(json, leaf, spec));
            case UINT64 -> target.set(INT64, at, unsigned64(json, leaf, spec));
            case FP32 -> target.set(FP32, at, requireNumber(json, leaf, spec).getFloatValue());
            case FP64 -> target.set(FP64, at, requireNumber(json, leaf, spec).getDoubleValue());
            default -> throw new AssertionError(spec);
        }
    }

    private static byte bool(JsonParser json, JsonToken leaf, TensorSpec spec) throws IOException {
        if (leaf == JsonToken.VALUE_TRUE || leaf == JsonToken.VALUE_FALSE) {
            return (byte) (leaf == JsonToken.VALUE_TRUE ? 1 : 0);
        }
        return (byte) integer(json, leaf, spec, 0, 2);
    }

    private static long integer(JsonParser json, JsonToken leaf, TensorSpec spec, long least, long end)
            throws IOException {
        long value = leaf == JsonToken.VALUE_NUMBER_INT && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER
                ? json.getLongValue()
                : end;
        if (value < least || value >= end) {
            throw wrongElement(spec, json, "an integer from " + least + " to " + (end - 1));
        }
        return value;
    }

    private static long long64(JsonParser json, JsonToken leaf, TensorSpec spec) throws IOException {
        if (leaf != JsonToken.VALUE_NUMBER_INT || json.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            throw wrongElement(spec, json, "an integer of 64 bits");
        }
        return json.getLongValue();
    }

    private static long unsigned64(JsonParser json, JsonToken leaf, TensorSpec spec) throws IOException {
        if (leaf == JsonToken.VALUE_NUMBER_INT) {
            if (json.getNumberType() != JsonParser.NumberType.BIG_INTEGER) {
                if (json.getLongValue() >= 0) {
                    return json.getLongValue();
                }
            } else {
                BigInteger value = json.getBigIntegerValue();
                if (value.signum() >= 0 && value.compareTo(UINT64_END) < 0) {
                    return value.longValue();
                }
            }
        }
        throw wrongElement(spec, json, "an integer of 64 bits without a sign");
    }

    private static JsonParser requireNumber(JsonParser json, JsonToken leaf, TensorSpec spec) throws IOException {
        if (leaf != JsonToken.VALUE_NUMBER_INT && leaf != JsonToken.VALUE_NUMBER_FLOAT) {
            throw wrongElement(spec, json, "a number");
        }
        return json;
    }

    private static MalformedResponseException wrongElement(TensorSpec spec, JsonParser json, String expected)
            throws IOException {
        return new MalformedResponseException("its output '" + spec.name() + "' " + spec.datatype()
                + " has the element " + json.getText() + ": expected " + expected);
    }

    private static MalformedResponseException wrongCount(TensorSpec spec, String found, long expected) {
        return new MalformedResponseException("its output '" + spec.name() + "' " + spec.datatype() + " " + spec.shape()
                + " has " + found + " elements: expected " + expected);
    }
}
