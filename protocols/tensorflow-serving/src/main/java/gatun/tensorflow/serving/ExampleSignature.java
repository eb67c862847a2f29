// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelVersion;
import gatun.runtime.RequestedOutput;
import gatun.spi.EntryPoint;
import gatun.tensorflow.serving.ExampleMapping.RegressedValues;
import gatun.wire.inference.ModelOutput;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** How a model takes examples: by a signature of its own, or by inputs made of their features. Immutable. */
public final class ExampleSignature {
    private final String entryPoint;
    private final Optional<ExampleMapping> mapping;
    private final Map<String, String> outputs;
    private final List<String> labels;

    private ExampleSignature(
            String entryPoint, Optional<ExampleMapping> mapping, Map<String, String> outputs, List<String> labels) {
        this.entryPoint = entryPoint;
        this.mapping = mapping;
        this.outputs = outputs;
        this.labels = labels;
    }

    /**
     * The signature of {@code model} that a request names, or else the mapping of examples in the configuration, if
     * any. {@code namesChecked}: it must call its method as the convention does, too. Throws INVALID_ARGUMENT when
     * there is none of that name, or it does not keep to the convention.
     */
    public static ExampleSignature of(ModelVersion model, ExampleMethod method, Servable wanted, boolean namesChecked) {
        EntryPoint own = model.entryPoints().get(wanted.entryPoint());
        if (wanted.signature().isEmpty() || (own == null && wanted.signature().equals(method.verb()))) {
            Optional<ExampleMapping> mapping = ExampleMapping.of(model.config(), method);
            if (mapping.isPresent()) {
                return of(model, mapping.get());
            }
        }
        if (own == null) {
            throw GatunException.invalidArgument("No signature was found with the name: " + wanted.entryPoint());
        }
        if (namesChecked) {
            method.checkName(own);
        }
        method.check(own);
        Map<String, String> outputs = new TreeMap<>();
        own.outputs().stream()
                .map(output -> output.spec().name())
                .filter(method.outputs()::contains)
                .forEach(name -> outputs.put(name, name));
        return new ExampleSignature(own.name(), Optional.empty(), outputs, List.of());
    }

    private static ExampleSignature of(ModelVersion model, ExampleMapping mapping) {
        Map<String, String> outputs = new TreeMap<>();
        mapping.outputs().forEach((part, output) -> outputs.put(part, output.getName()));
        ModelOutput scores = mapping.outputs().get(ScoredClasses.SCORES);
        return new ExampleSignature(
                "", Optional.of(mapping), outputs, scores == null ? List.of() : model.labels(scores.getName()));
    }

    /** Whether {@code model} has a signature of the name that a request has. */
    public static boolean exists(ModelVersion model, Servable wanted) {
        return ExampleMappings.signatures(model).stream()
                .anyMatch(signature -> signature.name().equals(wanted.entryPoint()));
    }

    /**
     * Gives examples, serialised as elements of a BYTES tensor in memory of {@code owner}, to a request, and names the
     * outputs that the response is made of. Takes over {@code owner}, also when this fails: INVALID_ARGUMENT when the
     * inputs cannot be filled.
     */
    public void ask(InferenceRequest request, BufferPool pool, MemorySegment examples, long count, Buffer owner) {
        request.entryPoint(entryPoint);
        outputs.values().forEach(output -> request.addOutput(RequestedOutput.of(output)));
        if (mapping.isEmpty()) {
            request.hold(owner);
            request.addInput(
                    new Tensor(new TensorSpec(ExampleMethod.INPUTS, Datatype.BYTES, Shape.of(count)), examples));
            return;
        }
        try (owner) {
            new FeatureTensors(examples, count)
                    .addTo(request, pool, mapping.get().inputs());
        }
    }

    /** The classes in a response to {@code examples} examples. Throws INVALID_ARGUMENT for outputs that do not fit. */
    public ScoredClasses classes(List<OutputTensor> answered, long examples) {
        return ScoredClasses.of(
                find(answered, ScoredClasses.CLASSES), find(answered, ScoredClasses.SCORES), labels, examples);
    }

    /**
     * The numbers in a model's response: one FP32 element for each example, where the output lies. Throws
     * INVALID_ARGUMENT for an output that does not fit.
     */
    public MemorySegment values(List<OutputTensor> answered, long examples) {
        return RegressedValues.of(find(answered, RegressedValues.OUTPUTS).orElseThrow(), examples);
    }

    private Optional<Tensor> find(List<OutputTensor> answered, String part) {
        String name = outputs.get(part);
        return answered.stream()
                .map(OutputTensor::tensor)
                .filter(tensor -> tensor.spec().name().equals(name))
                .findFirst();
    }
}
