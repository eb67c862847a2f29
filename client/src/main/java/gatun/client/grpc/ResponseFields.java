// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import gatun.client.MalformedResponseException;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.InferTensorContents;
import gatun.wire.inference.ModelInferResponse;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;

/** The fields of a response, without the tensors' bytes. Immutable. */
final class ResponseFields {
    /** Responses with this many bytes beside those of the tensors are not worth remembering. */
    private static final int REMEMBERED_BYTES = 1 << 14;

    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfDouble DOUBLE =
            ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final byte[] bytes;
    private final ModelInferResponse message;
    private final List<TensorSpec> specs;
    private final Map<String, Object> parameters;

    private ResponseFields(byte[] bytes, ModelInferResponse message) {
        this.bytes = bytes;
        this.message = message;
        List<TensorSpec> read = new ArrayList<>(message.getOutputsCount());
        for (ModelInferResponse.InferOutputTensor output : message.getOutputsList()) {
            long[] dims = new long[output.getShapeCount()];
            for (int i = 0; i < dims.length; i++) {
                dims[i] = output.getShape(i);
            }
            read.add(new TensorSpec(output.getName(), Datatype.of(output.getDatatype()), Shape.of(dims)));
        }
        this.specs = List.copyOf(read);
        Map<String, Object> values = new HashMap<>();
        message.getParametersMap().forEach((name, value) -> values.put(name, value(value)));
        this.parameters = Map.copyOf(values);
    }

    /** Reads the first {@code length} of {@code bytes}. */
    static ResponseFields parse(byte[] bytes, int length) {
        try {
            ModelInferResponse message = ModelInferResponse.parser().parseFrom(bytes, 0, length);
            boolean large = length > REMEMBERED_BYTES;
            return new ResponseFields(large ? new byte[0] : Arrays.copyOf(bytes, length), message);
        } catch (InvalidProtocolBufferException e) {
            throw new MalformedResponseException("the answer is no ModelInferResponse: " + e.getMessage(), e);
        }
    }

    /** Whether the first {@code length} of {@code others} say the same. */
    boolean matches(byte[] others, int length) {
        return length > 0 && Arrays.equals(bytes, 0, bytes.length, others, 0, length);
    }

    String model() {
        return message.getModelName();
    }

    String version() {
        return message.getModelVersion();
    }

    String id() {
        return message.getId();
    }

    /** The outputs in their order. */
    List<TensorSpec> specs() {
        return specs;
    }

    Map<String, Object> parameters() {
        return parameters;
    }

    /** Whether the message itself has the contents of an output, as some servers send them. */
    boolean hasContents(int output) {
        return message.getOutputs(output).hasContents();
    }

    MemorySegment contents(int output, LongFunction<MemorySegment> take) {
        InferTensorContents contents = message.getOutputs(output).getContents();
        TensorSpec spec = specs.get(output);
        int size = spec.datatype().byteSize();
        return switch (spec.datatype()) {
            case BOOL -> {
                MemorySegment to = take.apply(contents.getBoolContentsCount());
                for (int i = 0; i < contents.getBoolContentsCount(); i++) {
                    to.set(ValueLayout.JAVA_BYTE, i, (byte) (contents.getBoolContents(i) ? 1 : 0));
                }
                yield to;
            }
            case INT8, INT16, INT32 -> integers(contents.getIntContentsList(), size, take);
            case UINT8, UINT16, UINT32 -> integers(contents.getUintContentsList(), size, take);
            case INT64 -> integers(contents.getInt64ContentsList(), size, take);
            case UINT64 -> integers(contents.getUint64ContentsList(), size, take);
            case FP32 -> {
                MemorySegment to = take.apply((long) contents.getFp32ContentsCount() * size);
                for (int i = 0; i < contents.getFp32ContentsCount(); i++) {
                    to.set(FLOAT, (long) i * size, contents.getFp32Contents(i));
                }
                yield to;
            }
            case FP64 -> {
                MemorySegment to = take.apply((long) contents.getFp64ContentsCount() * size);
                for (int i = 0; i < contents.getFp64ContentsCount(); i++) {
                    to.set(DOUBLE, (long) i * size, contents.getFp64Contents(i));
                }
                yield to;
            }
            case BYTES -> strings(contents.getBytesContentsList(), take);
            default ->
                throw new MalformedResponseException("the answer has output '" + spec.name() + "' " + spec.datatype()
                        + " as values of its message: expected raw bytes, the only way for that datatype");
        };
    }

    private static MemorySegment integers(List<? extends Number> values, int size, LongFunction<MemorySegment> take) {
        MemorySegment to = take.apply((long) values.size() * size);
        for (int i = 0; i < values.size(); i++) {
            long value = values.get(i).longValue();
            switch (size) {
                case Byte.BYTES -> to.set(ValueLayout.JAVA_BYTE, i, (byte) value);
                case Short.BYTES -> to.set(SHORT, (long) i * size, (short) value);
                case Integer.BYTES -> to.set(INT, (long) i * size, (int) value);
                default -> to.set(LONG, (long) i * size, value);
            }
        }
        return to;
    }

    private static MemorySegment strings(List<ByteString> values, LongFunction<MemorySegment> take) {
        long size = 0;
        for (ByteString value : values) {
            size += BytesCodec.LENGTH_BYTES + value.size();
        }
        MemorySegment to = take.apply(size);
        long at = 0;
        for (ByteString value : values) {
            at = BytesCodec.put(to, at, value.toByteArray());
        }
        return to;
    }

    private static Object value(InferParameter parameter) {
        return switch (parameter.getParameterChoiceCase()) {
            case BOOL_PARAM -> parameter.getBoolParam();
            case INT64_PARAM -> parameter.getInt64Param();
            case STRING_PARAM -> parameter.getStringParam();
            case DOUBLE_PARAM -> parameter.getDoubleParam();
            case UINT64_PARAM -> parameter.getUint64Param();
            case PARAMETERCHOICE_NOT_SET -> "";
        };
    }
}
