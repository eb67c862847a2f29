// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import gatun.fuzz.AskedModel;
import gatun.fuzz.Elements;
import gatun.fuzz.FuzzInput;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.tensorflow.serving.DataTypes;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.TensorShapeProto;
import gatun.wire.tensorflow.serving.PredictRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * The tensors of PredictRequests, typed, packed, filled up and as content: the tensors hold the values that TensorFlow
 * makes of the message as protobuf reads it.
 */
public final class TensorFuzz {
    private static final long HEAP_BYTES = 64 << 20;
    private static final PredictDecoder DECODER =
            new PredictDecoder(RequestLimits.STANDARD, new HeapBudget(HEAP_BYTES));
    private static final BufferPool POOL = new BufferPool(8 << 20);
    private static final AskedModel MODEL = AskedModel.taking(List.of());
    private static final int MAX_RANK = 254;

    /** Tensors of more elements, each a long string, may find no memory, which is not compared. */
    private static final long MAX_COMPARED_ELEMENTS = 256;

    private TensorFuzz() {}

    /** Reads the input as a message. */
    public static void fuzzerTestOneInput(byte[] input) {
        FuzzInput.run(input, () -> read(input));
        try {
            PredictRequest theirs = PredictRequest.parseFrom(input);
            if (theirs.getInputsMap().values().stream().noneMatch(TensorFuzz::isLarge)) {
                FuzzInput.requireEqual(read(theirs.toByteArray()), expected(theirs), "tensors");
            }
        } catch (InvalidProtocolBufferException e) {
            // No tensors to compare.
        }
        FuzzInput.requireEqual(POOL.usedBytes(), 0L, "bytes that are lent");
    }

    /** All tensors, looked at when the last has been read; empty when one is refused. */
    private static Optional<List<String>> read(byte[] input) {
        try (Arena arena = Arena.ofConfined();
                PredictMessage message = DECODER.decode(FuzzInput.inMemory(arena, input));
                InferenceRequest request = new InferenceRequest(MODEL)) {
            TensorReader reader = new TensorReader(message.bytes(), POOL);
            message.inputs.forEach(field -> request.addInput(reader.read(field, request)));
            return Optional.of(request.inputs().stream().map(TensorFuzz::shown).toList());
        } catch (GatunException e) {
            return Optional.empty();
        }
    }

    private static String shown(Tensor tensor) {
        return tensor.spec() + " " + HexFormat.of().formatHex(tensor.bytes().toArray(ValueLayout.JAVA_BYTE));
    }

    private static Optional<List<String>> expected(PredictRequest message) {
        List<String> tensors = new ArrayList<>();
        for (var input : message.getInputsMap().entrySet()) {
            TensorProto tensor = input.getValue();
            Optional<Shape> shape = shape(tensor.getTensorShape());
            Datatype datatype = datatype(tensor);
            if (shape.isEmpty() || datatype == Datatype.INVALID || hasHalfAValue(tensor, datatype)) {
                return Optional.empty();
            }
            Optional<String> elements = tensor.getTensorContent().isEmpty()
                    ? filledUp(values(tensor, datatype), shape.get().elementCount(), datatype)
                    : content(tensor.getTensorContent(), shape.get(), datatype);
            if (elements.isEmpty()) {
                return Optional.empty();
            }
            tensors.add(new TensorSpec(input.getKey(), datatype, shape.get()) + " " + elements.get());
        }
        return Optional.of(tensors);
    }

    private static Datatype datatype(TensorProto tensor) {
        DataType type = tensor.getDtype();
        return type == DataType.UNRECOGNIZED ? Datatype.INVALID : DataTypes.datatype(type);
    }

    /** Empty where no tensor has it. */
    private static Optional<Shape> shape(TensorShapeProto proto) {
        long[] dims = proto.getDimList().stream()
                .mapToLong(TensorShapeProto.Dim::getSize)
                .toArray();
        boolean possible = !proto.getUnknownRank() && dims.length <= MAX_RANK;
        for (long dim : dims) {
            possible &= dim >= 0;
        }
        return possible ? Optional.of(Shape.of(dims)).filter(shape -> shape.elementCount() >= 0) : Optional.empty();
    }

    private static boolean isLarge(TensorProto tensor) {
        return shape(tensor.getTensorShape())
                .filter(shape -> shape.elementCount() > MAX_COMPARED_ELEMENTS)
                .isPresent();
    }

    /** The values in the field of the tensor's type, each as an element. */
    private static List<Elements> values(TensorProto tensor, Datatype datatype) {
        int byteSize = datatype.byteSize();
        return switch (datatype) {
            case BOOL ->
                tensor.getBoolValList().stream()
                        .map(value -> element(value ? 1 : 0, byteSize))
                        .toList();
            case UINT8, UINT16, INT8, INT16, INT32, QINT8, QUINT8, QINT16, QUINT16, QINT32, INT4, UINT4 ->
                tensor.getIntValList().stream()
                        .map(value -> element(value, byteSize))
                        .toList();
            case UINT32 ->
                tensor.getUint32ValList().stream()
                        .map(value -> element(value, byteSize))
                        .toList();
            case UINT64 ->
                tensor.getUint64ValList().stream()
                        .map(value -> element(value, byteSize))
                        .toList();
            case INT64 ->
                tensor.getInt64ValList().stream()
                        .map(value -> element(value, byteSize))
                        .toList();
            case FP16, BF16 ->
                tensor.getHalfValList().stream()
                        .map(value -> element(value, byteSize))
                        .toList();
            case FP32 ->
                tensor.getFloatValList().stream()
                        .map(value -> element(Float.floatToRawIntBits(value), byteSize))
                        .toList();
            case FP64 ->
                tensor.getDoubleValList().stream()
                        .map(value -> element(Double.doubleToRawLongBits(value), byteSize))
                        .toList();
            case BYTES ->
                tensor.getStringValList().stream().map(TensorFuzz::string).toList();
            case COMPLEX64 -> pairs(tensor.getScomplexValList(), Float::floatToRawIntBits, Float.BYTES);
            case COMPLEX128 -> pairs(tensor.getDcomplexValList(), Double::doubleToRawLongBits, Double.BYTES);
            case FP8_E5M2, FP8_E4M3FN -> {
                List<Elements> bytes = new ArrayList<>();
                for (int i = 0; i < tensor.getFloat8Val().size(); i++) {
                    bytes.add(element(tensor.getFloat8Val().byteAt(i), byteSize));
                }
                yield bytes;
            }
            case INVALID -> throw new AssertionError("no values of " + datatype);
        };
    }

    private static <T> List<Elements> pairs(List<T> parts, ToLongFunction<T> bits, int byteSize) {
        List<Elements> pairs = new ArrayList<>();
        for (int i = 0; i < parts.size() / 2; i++) {
            Elements pair = element(bits.applyAsLong(parts.get(2 * i)), byteSize);
            pair.add(bits.applyAsLong(parts.get(2 * i + 1)), byteSize);
            pairs.add(pair);
        }
        return pairs;
    }

    /** Whether the last of typed complex numbers lacks its imaginary part. */
    private static boolean hasHalfAValue(TensorProto tensor, Datatype datatype) {
        int parts =
                switch (datatype) {
                    case COMPLEX64 -> tensor.getScomplexValCount();
                    case COMPLEX128 -> tensor.getDcomplexValCount();
                    default -> 0;
                };
        return tensor.getTensorContent().isEmpty() && parts % 2 != 0;
    }

    private static Elements element(long value, int byteSize) {
        Elements element = new Elements();
        element.add(value, byteSize);
        return element;
    }

    private static Elements string(ByteString text) {
        Elements element = new Elements();
        element.addString(text.toByteArray());
        return element;
    }

    /** The last value stands for all that are not there, and zero where there is none. */
    private static Optional<String> filledUp(List<Elements> values, long count, Datatype datatype) {
        if (values.size() > count) {
            return Optional.empty();
        }
        Elements zero = datatype == Datatype.BYTES ? string(ByteString.EMPTY) : element(0, datatype.byteSize());
        Elements last = values.isEmpty() ? zero : values.getLast();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append((i < values.size() ? values.get(i) : last).hex());
        }
        return Optional.of(text.toString());
    }

    private static Optional<String> content(ByteString content, Shape shape, Datatype datatype) {
        if (datatype == Datatype.BYTES) {
            return strings(content, shape.elementCount());
        }
        boolean fits = content.size() == shape.byteSize(datatype);
        return fits ? Optional.of(HexFormat.of().formatHex(content.toByteArray())) : Optional.empty();
    }

    /** All lengths, then all strings. */
    private static Optional<String> strings(ByteString content, long count) {
        try {
            CodedInputStream in = content.newCodedInput();
            List<Long> lengths = new ArrayList<>();
            for (long i = 0; i < count; i++) {
                lengths.add(in.readRawVarint64());
            }
            Elements elements = new Elements();
            for (long length : lengths) {
                if (length < 0 || length > content.size()) {
                    return Optional.empty();
                }
                elements.addString(in.readRawBytes((int) length));
            }
            return in.isAtEnd() ? Optional.of(elements.hex()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
