// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.grpc.message.TextCache;
import gatun.grpc.message.TextCache.RecurringParts;
import gatun.grpc.message.WireReader;
import gatun.grpc.message.WireReader.LimitedReader;
import gatun.grpc.message.WireWriter.Utf8;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.spi.ParameterValue;
import gatun.v2.grpc.InferMessage.Contents;
import gatun.v2.grpc.InferMessage.Contents.ContentsReader;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Reads ModelInferRequest messages. Finds tensor data without a copy. Thread-safe. */
public final class InferDecoder {
    // Field numbers of ModelInferRequest.
    private static final int MODEL_NAME = 1;
    private static final int MODEL_VERSION = 2;
    private static final int ID = 3;
    private static final int PARAMETERS = 4;
    private static final int INPUTS = 5;
    private static final int OUTPUTS = 6;
    static final int RAW_INPUT_CONTENTS = 7;

    // Field numbers of InferInputTensor; InferRequestedOutputTensor has the first, and the parameters as its second.
    private static final int TENSOR_NAME = 1;
    private static final int TENSOR_DATATYPE = 2;
    private static final int TENSOR_SHAPE = 3;
    private static final int TENSOR_PARAMETERS = 4;
    private static final int TENSOR_CONTENTS = 5;
    private static final int OUTPUT_PARAMETERS = 2;

    // Field numbers of an entry of a map.
    private static final int KEY = 1;
    private static final int VALUE = 2;

    // Tags of InferParameter's choices: number and wire type.
    private static final int BOOL_PARAM = 1 << 3 | WireReader.VARINT;
    private static final int INT64_PARAM = 2 << 3 | WireReader.VARINT;
    private static final int STRING_PARAM = 3 << 3 | WireReader.LENGTH_DELIMITED;
    private static final int DOUBLE_PARAM = 4 << 3 | WireReader.FIXED64;
    private static final int UINT64_PARAM = 5 << 3 | WireReader.VARINT;

    // For texts to clients.
    private static final String NAME = "an input's name";
    private static final String DATATYPE = "an input's datatype";

    private static final int MAX_RANK = 1024;
    private static final int USUAL_RANK = 4;

    private final TextCache texts = new TextCache();
    private final RecurringParts<InferMessage.Input> plainInputs = new RecurringParts<>();
    private final RequestLimits limits;
    private final HeapBudget heap;

    /** A decoder of messages within {@code limits}; {@code heap} gives memory beyond that of usual messages. */
    public InferDecoder(RequestLimits limits, HeapBudget heap) {
        this.limits = limits;
        this.heap = heap;
    }

    /**
     * Reads a message. The result owns {@code hold}, which keeps the bytes valid; a failure leaves it. Throws
     * {@link GatunException} INVALID_ARGUMENT for no message, RESOURCE_EXHAUSTED, UNAVAILABLE without heap.
     */
    public InferMessage decode(MemorySegment bytes, Hold hold) {
        LimitedReader in = new LimitedReader(bytes, limits, heap);
        try {
            InferMessage message = decode(in, bytes, hold);
            message.reserve(in.takeReservation());
            return message;
        } finally {
            in.takeReservation().close();
        }
    }

    private InferMessage decode(LimitedReader in, MemorySegment bytes, Hold hold) {
        InferMessage message = new InferMessage(bytes, hold);
        while (in.hasMore()) {
            int tag = in.tag();
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            int length = in.length();
            int start = in.advance(length);
            switch (WireReader.field(tag)) {
                case MODEL_NAME -> message.modelName = in.text(texts, start, length, "the model's name");
                case MODEL_VERSION -> message.modelVersion = in.text(texts, start, length, "the model's version");
                case ID -> message.id = in.text(texts, start, length, "the request's id");
                case PARAMETERS -> message.add(parameter(in, start, length));
                case INPUTS -> message.inputs.add(input(in, bytes, start, length));
                case OUTPUTS -> message.add(output(in, start, length));
                case RAW_INPUT_CONTENTS -> {
                    in.countRange();
                    message.addRaw(start, length);
                }
                default -> {
                    // A field of a newer protocol: passed over already.
                }
            }
        }
        return message;
    }

    private InferMessage.Input input(LimitedReader in, MemorySegment message, int start, int length) {
        in.countInput();
        InferMessage.Input known = plainInputs.find(message, start, length);
        if (known == null) {
            return readInput(in, message, start, length);
        }
        // As if it were read: whether a request is within the limits does not depend on the requests before.
        in.countText(Utf8.length(known.name()), NAME);
        in.countText(known.datatype().wireName().length(), DATATYPE);
        for (int i = 0; i < known.spec().shape().rank(); i++) {
            in.countDimension();
        }
        return known;
    }

    private InferMessage.Input readInput(LimitedReader in, MemorySegment message, int start, int length) {
        String name = "";
        Datatype datatype = Datatype.INVALID;
        List<InferMessage.Parameter> parameters = List.of();
        Contents contents = Contents.ABSENT;
        long[] dims = new long[USUAL_RANK];
        int rank = 0;
        int seen = 0;
        boolean plain = true;
        int outerLimit = in.limit();
        in.window(start, start + length);
        while (in.hasMore()) {
            int tag = in.tag();
            int field = WireReader.field(tag);
            plain &= field <= TENSOR_SHAPE && (seen & 1 << field) == 0;
            seen |= 1 << field;
            if (field == TENSOR_SHAPE && WireReader.type(tag) == WireReader.VARINT) {
                dims = withRoom(in, dims, rank);
                dims[rank++] = in.varint();
                continue;
            }
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            int innerLength = in.length();
            int innerStart = in.position();
            int end = innerStart + innerLength;
            switch (field) {
                case TENSOR_NAME -> name = in.text(texts, innerStart, innerLength, NAME);
                case TENSOR_DATATYPE -> datatype = Datatype.of(in.text(texts, innerStart, innerLength, DATATYPE));
                case TENSOR_SHAPE -> {
                    int limit = in.limit();
                    in.window(innerStart, end);
                    while (in.hasMore()) {
                        dims = withRoom(in, dims, rank);
                        dims[rank++] = in.varint();
                    }
                    in.window(end, limit);
                }
                case TENSOR_PARAMETERS ->
                    parameters = InferMessage.with(parameters, parameter(in, innerStart, innerLength));
                case TENSOR_CONTENTS -> {
                    if (!contents.isPresent()) {
                        contents = new Contents();
                    }
                    ContentsReader.survey(in, contents, innerStart, end);
                }
                default -> {
                    // A field of a newer protocol.
                }
            }
            in.window(end, start + length);
        }
        in.window(start + length, outerLimit);
        InferMessage.Input input =
                new InferMessage.Input(new TensorSpec(name, datatype, Shape.ofFirst(dims, rank)), parameters, contents);
        if (plain && datatype != Datatype.INVALID) {
            plainInputs.keep(message, start, length, input);
        }
        return input;
    }

    private static long[] withRoom(LimitedReader in, long[] dims, int rank) {
        in.countDimension();
        if (rank < dims.length) {
            return dims;
        }
        if (rank >= MAX_RANK) {
            throw in.malformed("a shape of more than " + MAX_RANK + " dimensions");
        }
        return Arrays.copyOf(dims, 2 * rank);
    }

    private InferMessage.Output output(LimitedReader in, int start, int length) {
        in.countOutput();
        InferMessage.Output output = new InferMessage.Output();
        int outerLimit = in.limit();
        in.window(start, start + length);
        while (in.hasMore()) {
            int tag = in.tag();
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            int innerLength = in.length();
            int innerStart = in.advance(innerLength);
            switch (WireReader.field(tag)) {
                case TENSOR_NAME -> output.name = in.text(texts, innerStart, innerLength, "an output's name");
                case OUTPUT_PARAMETERS -> output.add(parameter(in, innerStart, innerLength));
                default -> {
                    // A field of a newer protocol.
                }
            }
        }
        in.window(start + length, outerLimit);
        return output;
    }

    /** An entry of a map of parameters: key and value. Leaves the reader behind the entry. */
    private InferMessage.Parameter parameter(LimitedReader in, int start, int length) {
        in.countParameter();
        String name = "";
        Optional<ParameterValue> value = Optional.empty();
        int outerLimit = in.limit();
        in.window(start, start + length);
        while (in.hasMore()) {
            int tag = in.tag();
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            int innerLength = in.length();
            int innerStart = in.advance(innerLength);
            switch (WireReader.field(tag)) {
                case KEY -> name = in.text(texts, innerStart, innerLength, "a parameter's name");
                case VALUE -> value = value(in, innerStart, innerLength);
                default -> {
                    // A field of a newer protocol.
                }
            }
        }
        in.window(start + length, outerLimit);
        return new InferMessage.Parameter(name, value);
    }

    private Optional<ParameterValue> value(LimitedReader in, int start, int length) {
        Optional<ParameterValue> value = Optional.empty();
        int outerLimit = in.limit();
        in.window(start, start + length);
        while (in.hasMore()) {
            int tag = in.tag();
            switch (tag) {
                case BOOL_PARAM -> value = Optional.of(new ParameterValue.Bool(in.varint() != 0));
                case INT64_PARAM -> value = Optional.of(new ParameterValue.Int64(in.varint()));
                case STRING_PARAM -> {
                    int textLength = in.length();
                    value = Optional.of(new ParameterValue.Text(
                            in.text(texts, in.advance(textLength), textLength, "a parameter's value")));
                }
                case DOUBLE_PARAM ->
                    value = Optional.of(new ParameterValue.Fp64(Double.longBitsToDouble(in.fixed64())));
                case UINT64_PARAM -> value = Optional.of(new ParameterValue.Uint64(in.varint()));
                default -> in.skip(tag);
            }
        }
        in.window(start + length, outerLimit);
        return value;
    }
}
