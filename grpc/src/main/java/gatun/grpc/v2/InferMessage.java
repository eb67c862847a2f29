package gatun.grpc.v2;

import gatun.grpc.message.InferenceCall;
import gatun.memory.Datatype;
import gatun.memory.Hold;
import gatun.memory.Shape;
import gatun.runtime.ParameterValue;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * A ModelInferRequest as it was read: well formed, but not yet checked against anything. Tensor data stays where it is, in
 * the message's own memory. Owns that memory until {@link #takeOwnership()}; one thread uses it at a time.
 */
public final class InferMessage implements InferenceCall.Message {
    private static final Hold NOTHING = () -> {};

    /**
     * A parameter of the request or of a tensor.
     *
     * @param value what it is set to; empty when the client set no choice of its oneof
     */
    record Parameter(String name, Optional<ParameterValue> value) {}

    /** An input, as far as it stands beside its raw data. */
    static final class Input {
        String name = "";
        Datatype datatype = Datatype.INVALID;
        Shape shape = Shape.of();
        List<Parameter> parameters = List.of();
        Contents contents = Contents.ABSENT;

        void add(Parameter parameter) {
            parameters = with(parameters, parameter);
        }
    }

    /** An output that the client names. */
    static final class Output {
        String name = "";
        List<Parameter> parameters = List.of();

        void add(Parameter parameter) {
            parameters = with(parameters, parameter);
        }
    }

    String modelName = "";
    String modelVersion = "";
    String id = "";
    List<Parameter> parameters = List.of();
    final List<Input> inputs = new ArrayList<>(4);
    List<Output> outputs = List.of();

    private final MemorySegment bytes;
    private Hold hold;
    private int[] rawRanges = new int[4];
    private int rawCount;

    /** A message in {@code bytes}, which are valid until {@code hold} is closed. */
    InferMessage(MemorySegment bytes, Hold hold) {
        this.bytes = bytes;
        this.hold = hold;
    }

    /** The request's id, empty when it has none. */
    public String id() {
        return id;
    }

    /** The model that is asked for. */
    public String modelName() {
        return modelName;
    }

    /** The version that is asked for, as the client wrote it. */
    public String modelVersion() {
        return modelVersion;
    }

    /** Whether it names a sequence that it belongs to. */
    boolean isOfSequence() {
        for (int i = 0; i < parameters.size(); i++) {
            if (parameters.get(i).name().equals("sequence_id")) {
                return true;
            }
        }
        return false;
    }

    /** How many inputs it has. */
    public int inputCount() {
        return inputs.size();
    }

    /** How many entries of raw input data it has. */
    public int rawCount() {
        return rawCount;
    }

    /** The bytes of one raw entry. */
    public MemorySegment raw(int index) {
        return bytes.asSlice(rawStart(index), rawLength(index));
    }

    @Override
    public MemorySegment bytes() {
        return bytes;
    }

    int rawStart(int index) {
        return rawRanges[2 * index];
    }

    int rawLength(int index) {
        return rawRanges[2 * index + 1];
    }

    void addRaw(int start, int length) {
        if (2 * rawCount == rawRanges.length) {
            rawRanges = Arrays.copyOf(rawRanges, 4 * rawCount);
        }
        rawRanges[2 * rawCount] = start;
        rawRanges[2 * rawCount + 1] = length;
        rawCount++;
    }

    void add(Parameter parameter) {
        parameters = with(parameters, parameter);
    }

    /** Most requests name no outputs. */
    void add(Output output) {
        if (outputs.isEmpty()) {
            outputs = new ArrayList<>(4);
        }
        outputs.add(output);
    }

    /** A map's later entry replaces an earlier one of the same name. */
    private static List<Parameter> with(List<Parameter> parameters, Parameter parameter) {
        List<Parameter> more = parameters.isEmpty() ? new ArrayList<>(4) : parameters;
        more.removeIf(earlier -> earlier.name().equals(parameter.name()));
        more.add(parameter);
        return more;
    }

    @Override
    public void own(Hold newHold) {
        hold = newHold;
    }

    @Override
    public Hold takeOwnership() {
        Hold taken = hold;
        hold = NOTHING;
        return taken;
    }

    /** Gives the memory back, unless somebody took it. */
    @Override
    public void close() {
        takeOwnership().close();
    }
}
