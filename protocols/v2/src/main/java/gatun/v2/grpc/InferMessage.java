// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.grpc.message.RawMessage;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.ParameterValue;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A ModelInferRequest as it was read: well formed, but not yet checked against anything. Tensor data stays where it is,
 * in the message's own memory. Owns that memory until {@link #takeOwnership()}; one thread uses it at a time.
 */
public final class InferMessage extends RawMessage {
    /**
     * A parameter of the request or of a tensor.
     *
     * @param value its value; empty when the client set no choice of its oneof
     */
    record Parameter(String name, Optional<ParameterValue> value) {}

    /** An input, as far as it stands beside its raw data. One without parameters and contents may be of several messages. */
    record Input(TensorSpec spec, List<Parameter> parameters, Contents contents) {
        String name() {
            return spec.name();
        }

        Datatype datatype() {
            return spec.datatype();
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

    /** A message in {@code bytes}, which are valid until {@code hold} is closed. */
    InferMessage(MemorySegment bytes, Hold hold) {
        super(bytes, hold);
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

    /** How many inputs it has. */
    public int inputCount() {
        return inputs.size();
    }

    void add(Parameter parameter) {
        parameters = with(parameters, parameter);
    }

    void add(Output output) {
        if (outputs.isEmpty()) {
            outputs = new ArrayList<>(4);
        }
        outputs.add(output);
    }

    /** A map's later entry replaces an earlier one of the same name. */
    static List<Parameter> with(List<Parameter> parameters, Parameter parameter) {
        List<Parameter> more = parameters.isEmpty() ? new ArrayList<>(4) : parameters;
        more.removeIf(earlier -> earlier.name().equals(parameter.name()));
        more.add(parameter);
        return more;
    }
}
