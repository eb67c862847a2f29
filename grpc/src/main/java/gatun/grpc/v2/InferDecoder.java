package gatun.grpc.v2;

import gatun.memory.Datatype;
import gatun.memory.GatunException;
import gatun.memory.Hold;
import gatun.memory.Shape;
import gatun.runtime.ParameterValue;
import java.lang.foreign.MemorySegment;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.Optional;

/**
 * Reads ModelInferRequest messages. Data of tensors is not copied, only found: what is allocated depends on the number of
 * tensors, not on their size. Safe for any thread.
 */
public final class InferDecoder {
    // Field numbers of ModelInferRequest.
    private static final int MODEL_NAME = 1;
    private static final int MODEL_VERSION = 2;
    private static final int ID = 3;
    private static final int PARAMETERS = 4;
    private static final int INPUTS = 5;
    private static final int OUTPUTS = 6;
    /** Field number of the tensors' data. */
    static final int RAW_INPUT_CONTENTS = 7;

    private static final int MAX_RANK = 1024;

    private final TextCache texts = new TextCache();

    /**
     * Reads a message. The result owns {@code hold}; a failure leaves it to the caller.
     *
     * @param bytes the message
     * @param hold what keeps the bytes valid
     * @throws GatunException INVALID_ARGUMENT when the bytes are no such message
     */
    public InferMessage decode(MemorySegment bytes, Hold hold) {
        InferMessage message = new InferMessage(bytes, hold);
        WireReader in = new WireReader(bytes);
        while (in.hasMore()) {
            int tag = in.tag();
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            int length = in.length();
            int start = in.advance(length);
            switch (WireReader.field(tag)) {
                case MODEL_NAME -> message.modelName = text(in, bytes, start, length);
                case MODEL_VERSION -> message.modelVersion = text(in, bytes, start, length);
                case ID -> message.id = text(in, bytes, start, length);
                case PARAMETERS -> message.add(parameter(in, bytes, start, length));
                case INPUTS -> message.inputs.add(input(in, bytes, start, length));
                case OUTPUTS -> message.outputs.add(output(in, bytes, start, length));
                case RAW_INPUT_CONTENTS -> message.addRaw(start, length);
                default -> {
                    // A field of a newer protocol: passed over already.
                }
            }
        }
        return message;
    }

    private InferMessage.Input input(WireReader in, MemorySegment bytes, int start, int length) {
        InferMessage.Input input = new InferMessage.Input();
        long[] dims = new long[4];
        int rank = 0;
        int outerLimit = in.limit();
        in.window(start, start + length);
        while (in.hasMore()) {
            int tag = in.tag();
            int field = WireReader.field(tag);
            if (field == 3 && WireReader.type(tag) == WireReader.VARINT) {
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
                case 1 -> input.name = text(in, bytes, innerStart, innerLength);
                case 2 -> input.datatype = Datatype.of(text(in, bytes, innerStart, innerLength));
                case 3 -> {
                    int limit = in.limit();
                    in.window(innerStart, end);
                    while (in.hasMore()) {
                        dims = withRoom(in, dims, rank);
                        dims[rank++] = in.varint();
                    }
                    in.window(end, limit);
                }
                case 4 -> input.add(parameter(in, bytes, innerStart, innerLength));
                case 5 -> {
                    if (!input.contents.isPresent()) {
                        input.contents = new Contents();
                    }
                    ContentsReader.survey(in, input.contents, innerStart, end);
                }
                default -> {
                    // A field of a newer protocol.
                }
            }
            in.window(end, start + length);
        }
        in.window(start + length, outerLimit);
        input.shape = Shape.of(rank == dims.length ? dims : Arrays.copyOf(dims, rank));
        return input;
    }

    private static long[] withRoom(WireReader in, long[] dims, int rank) {
        if (rank < dims.length) {
            return dims;
        }
        if (rank >= MAX_RANK) {
            throw in.malformed("a shape of more than " + MAX_RANK + " dimensions");
        }
        return Arrays.copyOf(dims, 2 * rank);
    }

    private InferMessage.Output output(WireReader in, MemorySegment bytes, int start, int length) {
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
                case 1 -> output.name = text(in, bytes, innerStart, innerLength);
                case 2 -> output.add(parameter(in, bytes, innerStart, innerLength));
                default -> {
                    // A field of a newer protocol.
                }
            }
        }
        in.window(start + length, outerLimit);
        return output;
    }

    /** An entry of a map of parameters: key and value. Leaves the reader behind the entry. */
    private InferMessage.Parameter parameter(WireReader in, MemorySegment bytes, int start, int length) {
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
                case 1 -> name = text(in, bytes, innerStart, innerLength);
                case 2 -> value = value(in, bytes, innerStart, innerLength);
                default -> {
                    // A field of a newer protocol.
                }
            }
        }
        in.window(start + length, outerLimit);
        return new InferMessage.Parameter(name, value);
    }

    private Optional<ParameterValue> value(WireReader in, MemorySegment bytes, int start, int length) {
        Optional<ParameterValue> value = Optional.empty();
        int outerLimit = in.limit();
        in.window(start, start + length);
        while (in.hasMore()) {
            int tag = in.tag();
            switch (tag) {
                case 1 << 3 | WireReader.VARINT -> value = Optional.of(new ParameterValue.Bool(in.varint() != 0));
                case 2 << 3 | WireReader.VARINT -> value = Optional.of(new ParameterValue.Int64(in.varint()));
                case 3 << 3 | WireReader.LENGTH_DELIMITED -> {
                    int textLength = in.length();
                    value = Optional.of(new ParameterValue.Text(text(in, bytes, in.advance(textLength), textLength)));
                }
                case 4 << 3 | WireReader.FIXED64 ->
                    value = Optional.of(new ParameterValue.Fp64(Double.longBitsToDouble(in.fixed64())));
                case 5 << 3 | WireReader.VARINT -> value = Optional.of(new ParameterValue.Uint64(in.varint()));
                default -> in.skip(tag);
            }
        }
        in.window(start + length, outerLimit);
        return value;
    }

    private String text(WireReader in, MemorySegment bytes, int start, int length) {
        try {
            return texts.text(bytes, start, length);
        } catch (CharacterCodingException e) {
            throw in.malformed("a string that is not UTF-8");
        }
    }
}
