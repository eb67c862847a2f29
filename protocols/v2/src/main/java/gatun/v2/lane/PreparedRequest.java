// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.RequestedOutput;
import gatun.spi.CorrelationId;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * All of an inference but its tensors and place in a sequence, checked once. Valid even when its model is loaded anew:
 * each request asks the version ready then, and is checked against it. Thread-safe; its lane closes it.
 */
public final class PreparedRequest implements Hold {
    /** An input without its shape. */
    public record Input(String name, Datatype datatype) {}

    private final String model;
    private final String version;
    private final Input[] inputs;
    private final RequestedOutput[] outputs;
    private final String[] regions;
    private final InferenceRequest said;
    private final Hold heap;
    private final long byteSize;
    private final boolean decoupled;
    private final RunLength runLength = new RunLength();

    private PreparedRequest(Definition definition, InferenceRequest said, Hold heap, long byteSize) {
        ModelVersion asked = said.model();
        this.model = asked.name();
        this.version = said.anyVersion() ? "" : asked.versionText();
        this.inputs = definition.inputs.toArray(Input[]::new);
        this.outputs = definition.outputs.toArray(RequestedOutput[]::new);
        this.regions = definition.regions.toArray(String[]::new);
        this.said = said;
        this.heap = heap;
        this.byteSize = byteSize;
        this.decoupled = asked.decoupled();
    }

    /** A request's tensors in the slot's order, no outputs for all, and the names of regions for windows. */
    public record Definition(List<Input> inputs, List<RequestedOutput> outputs, List<String> regions) {
        /** Keeps copies. */
        public Definition {
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
            regions = List.copyOf(regions);
        }
    }

    /**
     * Prepares a request. {@code said} holds its parameters, without tensors, and is not sent; {@code heap} is closed
     * with this; {@code byteSize} is its length as sent. Throws {@link GatunException} for unknown tensors.
     */
    public static PreparedRequest of(Definition definition, InferenceRequest said, Hold heap, long byteSize) {
        ModelVersion asked = said.model();
        Set<String> names = new HashSet<>();
        for (Input input : definition.inputs) {
            TensorSpec spec = find(asked.inputs(), input.name)
                    .orElseThrow(() -> GatunException.invalidArgument(
                            "unexpected inference input '" + input.name + "' for model '" + asked.name() + "'"));
            if (!names.add(input.name)) {
                throw GatunException.invalidArgument("input '" + input.name + "' is there twice: expected once");
            }
            if (spec.datatype() != input.datatype) {
                throw GatunException.invalidArgument("inference input '" + input.name + "' data-type is '"
                        + input.datatype.wireName() + "', but model '" + asked.name() + "' expects '"
                        + spec.datatype().wireName() + "'");
            }
        }
        names.clear();
        for (RequestedOutput output : definition.outputs) {
            if (find(asked.outputs(), output.name()).isEmpty()) {
                throw GatunException.invalidArgument(
                        "unexpected inference output '" + output.name() + "' for model '" + asked.name() + "'");
            }
            if (!names.add(output.name())) {
                throw GatunException.invalidArgument("output '" + output.name() + "' is there twice: expected once");
            }
        }
        Definition whole = definition;
        if (definition.outputs.isEmpty()) {
            List<RequestedOutput> all = asked.outputs().stream()
                    .map(spec -> RequestedOutput.of(spec.name()))
                    .toList();
            whole = new Definition(definition.inputs, all, definition.regions);
        }
        return new PreparedRequest(whole, said, heap, byteSize);
    }

    private static Optional<TensorSpec> find(List<TensorSpec> specs, String name) {
        return specs.stream().filter(spec -> spec.name().equals(name)).findFirst();
    }

    /** The names of the outputs, in the order of the slot. */
    public List<String> outputNames() {
        return List.of(outputs).stream().map(RequestedOutput::name).toList();
    }

    int inputCount() {
        return inputs.length;
    }

    int outputCount() {
        return outputs.length;
    }

    Input input(int index) {
        return inputs[index];
    }

    /** Output {@code index} in the order of the slot, without a destination. */
    RequestedOutput output(int index) {
        return outputs[index];
    }

    String model() {
        return model;
    }

    /** The version in decimal; empty for any. */
    String version() {
        return version;
    }

    long byteSize() {
        return byteSize;
    }

    /** Whether its model answered any number of times when it was prepared. */
    boolean isDecoupled() {
        return decoupled;
    }

    /** The name of region {@code number}, from 1. Throws {@link GatunException} INVALID_ARGUMENT without one. */
    String region(int number) {
        if (number < 1 || number > regions.length) {
            throw GatunException.invalidArgument("a tensor lies in region " + Integer.toUnsignedString(number)
                    + " of the prepared request: expected 0 for the lane, or 1 to " + regions.length);
        }
        return regions[number - 1];
    }

    InferenceRequest begin(ModelVersion asked) {
        InferenceRequest request = new InferenceRequest(asked);
        request.anyVersion(version.isEmpty());
        request.priority(said.priority());
        request.timeoutMicros(said.timeoutMicros());
        if (!said.parameters().isEmpty()) { // a request without any makes no object
            said.parameters().forEach(request::parameter);
        }
        switch (said.correlationId().orElse(null)) {
            case CorrelationId.Uint64 number -> request.correlationId(number.value());
            case CorrelationId.Text text -> request.correlationId(text.value());
            case null -> {}
        }
        request.sequenceStart(said.sequenceStart());
        request.sequenceEnd(said.sequenceEnd());
        request.id(said.id());
        return request;
    }

    RunLength runLength() {
        return runLength;
    }

    @Override
    public void close() {
        heap.close();
    }
}
