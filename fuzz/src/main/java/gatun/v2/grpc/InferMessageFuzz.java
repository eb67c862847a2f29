// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import gatun.fuzz.Elements;
import gatun.fuzz.FuzzInput;
import gatun.grpc.message.RawMessage;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.spi.ParameterValue;
import gatun.v2.grpc.InferMessage.Contents;
import gatun.v2.grpc.InferMessage.Contents.ContentsReader;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.InferTensorContents;
import gatun.wire.inference.ModelInferRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * ModelInferRequest messages: messages are read as protobuf reads them, and refused when protobuf refuses them. A
 * message that protobuf has read and written again is read too.
 */
public final class InferMessageFuzz {
    private static final long HEAP_BYTES = 64L << 20;
    private static final InferDecoder DECODER = new InferDecoder(RequestLimits.STANDARD, new HeapBudget(HEAP_BYTES));

    private InferMessageFuzz() {}

    /** Reads the input as a message. */
    public static void fuzzerTestOneInput(byte[] input) {
        Optional<ModelInferRequest> theirs = protobuf(input);
        FuzzInput.run(input, () -> {
            Optional<String> ours = read(input);
            if (ours.isPresent()) {
                FuzzInput.require(theirs.isPresent(), "a message that protobuf refuses is read");
            }
        });
        if (theirs.isPresent()) {
            FuzzInput.requireEqual(read(theirs.get().toByteArray()), Optional.of(shown(theirs.get())), "a message");
        }
    }

    private static Optional<ModelInferRequest> protobuf(byte[] input) {
        try {
            ModelInferRequest message = ModelInferRequest.parseFrom(input);
            ModelInferRequest.Builder known = message.toBuilder().clone();
            known.setUnknownFields(UnknownFieldSet.getDefaultInstance());
            return Optional.of(known.build());
        } catch (InvalidProtocolBufferException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> read(byte[] input) {
        try (Arena arena = Arena.ofConfined();
                InferMessage message = DECODER.decode(FuzzInput.inMemory(arena, input), RawMessage.NOTHING)) {
            return Optional.of(shown(message));
        } catch (GatunException e) {
            return Optional.empty();
        }
    }

    private static String shown(InferMessage message) {
        StringBuilder text = new StringBuilder();
        text.append(List.of(message.modelName, message.modelVersion, message.id));
        text.append(parameters(message.parameters));
        for (InferMessage.Input input : message.inputs) {
            text.append("\n").append(input.name()).append(input.datatype().name());
            for (int i = 0; i < input.spec().shape().rank(); i++) {
                text.append(" ").append(input.spec().shape().dim(i));
            }
            text.append(parameters(input.parameters())).append(contents(message, input.contents()));
        }
        for (InferMessage.Output output : message.outputs) {
            text.append("\n").append(output.name).append(parameters(output.parameters));
        }
        for (int i = 0; i < message.rawCount(); i++) {
            text.append("\n").append(HexFormat.of().formatHex(message.raw(i).toArray(ValueLayout.JAVA_BYTE)));
        }
        return text.toString();
    }

    private static String shown(ModelInferRequest message) {
        StringBuilder text = new StringBuilder();
        text.append(List.of(message.getModelName(), message.getModelVersion(), message.getId()));
        text.append(parameters(message.getParametersMap()));
        for (ModelInferRequest.InferInputTensor input : message.getInputsList()) {
            text.append("\n").append(input.getName()).append(datatype(input.getDatatype()));
            input.getShapeList().forEach(dim -> text.append(" ").append(dim));
            text.append(parameters(input.getParametersMap()))
                    .append(input.hasContents() ? contents(input.getContents()) : "nothing");
        }
        for (ModelInferRequest.InferRequestedOutputTensor output : message.getOutputsList()) {
            text.append("\n").append(output.getName()).append(parameters(output.getParametersMap()));
        }
        message.getRawInputContentsList()
                .forEach(raw -> text.append("\n").append(HexFormat.of().formatHex(raw.toByteArray())));
        return text.toString();
    }

    /** The typed data as the elements of tensors of the fields' own datatypes. */
    private static String contents(InferMessage message, Contents contents) {
        if (!contents.isPresent()) {
            return "nothing";
        }
        StringBuilder text = new StringBuilder();
        for (int field = 1; field <= Contents.LAST_FIELD; field++) {
            Datatype datatype = Contents.typeOf(field);
            byte[] elements = new byte[Math.toIntExact(ContentsReader.byteSize(contents, field, datatype))];
            ContentsReader.write(message.bytes(), contents, field, datatype, MemorySegment.ofArray(elements));
            text.append(" ").append(HexFormat.of().formatHex(elements));
        }
        return text.toString();
    }

    private static String contents(InferTensorContents contents) {
        List<Elements> fields =
                Stream.generate(Elements::new).limit(Contents.LAST_FIELD).toList();
        contents.getBoolContentsList().forEach(value -> fields.get(0).add(value ? 1 : 0, Byte.BYTES));
        contents.getIntContentsList().forEach(value -> fields.get(1).add(value, Integer.BYTES));
        contents.getInt64ContentsList().forEach(value -> fields.get(2).add(value, Long.BYTES));
        contents.getUintContentsList().forEach(value -> fields.get(3).add(value, Integer.BYTES));
        contents.getUint64ContentsList().forEach(value -> fields.get(4).add(value, Long.BYTES));
        contents.getFp32ContentsList().forEach(value -> fields.get(5).add(Float.floatToRawIntBits(value), Float.BYTES));
        contents.getFp64ContentsList()
                .forEach(value -> fields.get(6).add(Double.doubleToRawLongBits(value), Double.BYTES));
        contents.getBytesContentsList().forEach(value -> fields.get(7).addString(value.toByteArray()));
        StringBuilder text = new StringBuilder();
        fields.forEach(elements -> text.append(" ").append(elements.hex()));
        return text.toString();
    }

    private static String datatype(String name) {
        return Datatype.of(name).name();
    }

    private static String parameters(List<InferMessage.Parameter> parameters) {
        Map<String, String> sorted = new TreeMap<>();
        parameters.forEach(parameter -> sorted.put(
                parameter.name(), parameter.value().map(InferMessageFuzz::shown).orElse("nothing")));
        return sorted.toString();
    }

    private static String shown(ParameterValue value) {
        return switch (value) {
            case ParameterValue.Bool bool -> "bool " + bool.value();
            case ParameterValue.Int64 number -> "int " + number.value();
            case ParameterValue.Text text -> "text " + text.value();
            case ParameterValue.Fp64 number -> "double " + number.value();
            case ParameterValue.Uint64 number -> "uint " + number.value();
        };
    }

    private static String parameters(Map<String, InferParameter> parameters) {
        Map<String, String> sorted = new TreeMap<>();
        parameters.forEach((name, value) -> sorted.put(
                name,
                switch (value.getParameterChoiceCase()) {
                    case BOOL_PARAM -> "bool " + value.getBoolParam();
                    case INT64_PARAM -> "int " + value.getInt64Param();
                    case STRING_PARAM -> "text " + value.getStringParam();
                    case DOUBLE_PARAM -> "double " + value.getDoubleParam();
                    case UINT64_PARAM -> "uint " + value.getUint64Param();
                    case PARAMETERCHOICE_NOT_SET -> "nothing";
                }));
        return sorted.toString();
    }
}
