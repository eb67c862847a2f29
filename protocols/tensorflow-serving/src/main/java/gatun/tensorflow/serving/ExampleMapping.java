// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.ConfigurationPath;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelOutput;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The mapping of examples to a model that takes none, from its parameter {@code tensorflow_classify} or {@code
 * tensorflow_regress}: inputs filled from features, and outputs by their parts in the response. Immutable.
 */
record ExampleMapping(ExampleMethod method, List<FeatureInput> inputs, Map<String, ModelOutput> outputs) {
    private static final String PREFIX = "tensorflow_";

    /** The mapping of a method in a configuration, if it has one. Throws INVALID_ARGUMENT when it cannot work. */
    static Optional<ExampleMapping> of(ModelConfig config, ExampleMethod method) {
        String key = PREFIX + method.verb();
        if (!config.containsParameters(key)) {
            return Optional.empty();
        }
        return ConfigurationPath.ofParameter(key).locate(() -> of(config, method, key));
    }

    private static Optional<ExampleMapping> of(ModelConfig config, ExampleMethod method, String key) {
        String value = config.getParametersOrThrow(key).getStringValue();
        String subject = "parameter '" + key + "' of model '" + config.getName() + "'";
        if (config.getModelTransactionPolicy().getDecoupled() || config.hasSequenceBatching()) {
            throw GatunException.invalidArgument(
                    subject + ": a model that is decoupled or takes sequences cannot be asked with examples");
        }
        Map<String, ModelOutput> outputs = new LinkedHashMap<>();
        for (String entry : value.split(",", -1)) {
            int equals = entry.indexOf('=');
            String part = equals < 0 ? "" : entry.substring(0, equals).strip();
            if (!method.outputs().contains(part) || outputs.containsKey(part)) {
                throw GatunException.invalidArgument(subject + " is '" + value + "'; expected each of "
                        + String.join(", ", method.outputs()) + " once at most, with the output that it is, such as "
                        + method.outputs().getLast() + "=OUTPUT");
            }
            outputs.put(part, output(config, part, entry.substring(equals + 1).strip(), subject));
        }
        return Optional.of(new ExampleMapping(method, FeatureInput.of(config, subject), outputs));
    }

    private static ModelOutput output(ModelConfig config, String part, String name, String subject) {
        ModelOutput output = config.getOutputList().stream()
                .filter(candidate -> candidate.getName().equals(name))
                .findFirst()
                .orElseThrow(() -> GatunException.invalidArgument(subject + " names the output '" + name
                        + "', which the model does not have; expected one of "
                        + config.getOutputList().stream()
                                .map(ModelOutput::getName)
                                .collect(Collectors.joining(", "))));
        DataType expected = part.equals(ScoredClasses.CLASSES) ? DataType.TYPE_STRING : DataType.TYPE_FP32;
        if (output.getDataType() != expected) {
            throw GatunException.invalidArgument(subject + " takes '" + name + "' of " + output.getDataType() + " for "
                    + part + ", which are of " + expected);
        }
        Shape shape = shape(config, output);
        boolean fits = part.equals(RegressedValues.OUTPUTS)
                ? shape.rank() == 1 || (shape.rank() == 2 && (shape.dim(1) == 1 || shape.dim(1) == Shape.VARIABLE))
                : shape.rank() == 2;
        if (!fits) {
            throw GatunException.invalidArgument(subject + " takes '" + name + "' of shape " + shape + " for " + part
                    + ", which have " + (part.equals(RegressedValues.OUTPUTS) ? "one value" : "one row of classes")
                    + " for each example");
        }
        return output;
    }

    /** As clients get the output. */
    private static Shape shape(ModelConfig config, ModelOutput output) {
        Shape dims = Shape.of(
                output.getDimsList().stream().mapToLong(Long::longValue).toArray());
        return config.getMaxBatchSize() > 0 ? dims.prepend(Shape.VARIABLE) : dims;
    }

    /** The signature that clients see. */
    EntryPoint signature(ModelConfig config) {
        TensorSpec examples = new TensorSpec(ExampleMethod.INPUTS, Datatype.BYTES, Shape.of(Shape.VARIABLE));
        List<EntryTensor> answered = new ArrayList<>();
        outputs.forEach((part, output) -> {
            Datatype datatype = part.equals(ScoredClasses.CLASSES) ? Datatype.BYTES : Datatype.FP32;
            answered.add(
                    new EntryTensor(new TensorSpec(part, datatype, shape(config, output)), false, output.getName()));
        });
        return new EntryPoint(
                method.verb(),
                method.signatureMethod(),
                List.of(new EntryTensor(examples, false, examples.name())),
                answered);
    }

    /** The numbers that a model gives for examples. */
    static final class RegressedValues {
        static final String OUTPUTS = "outputs";

        private RegressedValues() {}

        static MemorySegment of(Tensor values, long examples) {
            Shape shape = values.spec().shape();
            if (shape.rank() != 1 && (shape.rank() != 2 || shape.dim(1) != 1)) {
                throw GatunException.invalidArgument(
                        "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got " + shape);
            }
            if (shape.dim(0) != examples) {
                throw GatunException.invalidArgument(
                        "Input batch size did not match output batch size: " + examples + " vs. " + shape.dim(0));
            }
            if (values.spec().datatype() != Datatype.FP32) {
                throw GatunException.invalidArgument("Expected output Tensor of DT_FLOAT.  Got: "
                        + DataTypes.of(values.spec().datatype()));
            }
            return values.bytes();
        }
    }
}
