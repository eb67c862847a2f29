// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.ModelDescription.TensorDescription;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Datatypes;
import gatun.spi.SequenceTensors;
import gatun.spi.model.ConfiguredTensors;
import gatun.wire.inference.BatchInput;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelTensorReshape;
import java.util.List;
import java.util.stream.Stream;

/** Compares a configuration with the model file at load, so that no request is the first to find out. */
final class ConfigCheck {
    private final ModelConfig config;
    private final ModelDescription model;
    private final ConfiguredTensors inputs;
    private final ConfiguredTensors outputs;
    private final SequenceTensors sequenceTensors;

    ConfigCheck(ModelConfig config, ModelDescription model) {
        this.config = config;
        this.model = model;
        inputs = new ConfiguredTensors(config.getName(), "input", model.entryInputs());
        outputs = new ConfiguredTensors(config.getName(), "output", model.entryOutputs());
        sequenceTensors = new SequenceTensors(config);
    }

    /** Checks all tensors' names, datatypes and shapes. Throws {@link ConfigurationException} for a misfit. */
    void run() {
        checkInputCount();
        for (ModelInput input : config.getInputList()) {
            if (input.getAllowRaggedBatch()) {
                checkRagged(input);
                continue;
            }
            check(
                    "input",
                    inputs,
                    input.getName(),
                    Datatypes.of(input.getDataType()),
                    shape(input.getDimsList(), input.hasReshape(), input.getReshape()));
        }
        for (BatchInput input : config.getBatchInputList()) {
            for (String target : input.getTargetNameList()) {
                inputs.find(target, Datatypes.of(input.getDataType()));
            }
        }
        for (SequenceTensors.Described input : sequenceTensors.inputs()) {
            check("input", inputs, input.name(), input.datatype(), input.dims());
        }
        for (SequenceTensors.Described output : sequenceTensors.outputs()) {
            check("output", outputs, output.name(), output.datatype(), output.dims());
        }
        for (ModelOutput output : config.getOutputList()) {
            if (isCutByInput(output.getName())) {
                // Its shape in the file is that of a whole batch, of which the configuration says nothing.
                outputs.find(output.getName(), Datatypes.of(output.getDataType()));
                continue;
            }
            check(
                    "output",
                    outputs,
                    output.getName(),
                    Datatypes.of(output.getDataType()),
                    shape(output.getDimsList(), output.hasReshape(), output.getReshape()));
        }
    }

    /** Refuses an input too many or too few, which is told before all else. */
    private void checkInputCount() {
        List<String> configured = configuredInputs();
        List<String> provided =
                model.inputs().stream().map(TensorDescription::name).toList();
        if (configured.size() == provided.size()) {
            return;
        }
        String counts = "unable to load model '" + config.getName() + "', configuration expects " + configured.size()
                + " inputs, model provides " + provided.size();
        for (String name : configured) {
            if (!provided.contains(name)) {
                throw new ConfigurationException(
                        inputs.path(name),
                        counts + ": there is no input '" + name + "' in the model, inputs are: " + inputs.names());
            }
        }
        for (String name : provided) {
            if (!configured.contains(name)) {
                throw new ConfigurationException(
                        ConfigurationPath.of("input"),
                        counts + ": configuration misses input '" + name + "' of the model, inputs are: "
                                + inputs.names());
            }
        }
    }

    private List<String> configuredInputs() {
        return Stream.of(
                        config.getInputList().stream().map(ModelInput::getName),
                        config.getBatchInputList().stream().flatMap(input -> input.getTargetNameList().stream()),
                        sequenceTensors.inputs().stream().map(SequenceTensors.Described::name))
                .flatMap(names -> names)
                .distinct()
                .toList();
    }

    private boolean isCutByInput(String output) {
        return config.getBatchOutputList().stream()
                .anyMatch(o -> o.getTargetNameList().contains(output));
    }

    private void checkRagged(ModelInput input) {
        Shape actual = inputs.find(input.getName(), Datatypes.of(input.getDataType()))
                .spec()
                .shape();
        if (actual.rank() != 1 || actual.dim(0) != Shape.VARIABLE) {
            throw new ConfigurationException(
                    inputs.path(input.getName()).then("allow_ragged_batch"),
                    "unable to load model '" + config.getName()
                            + "', configuration expects model provides input with shape [-1] for ragged input '"
                            + input.getName() + "', model provides " + actual);
        }
    }

    private static Shape shape(List<Long> dims, boolean reshaped, ModelTensorReshape reshape) {
        List<Long> actual = reshaped ? reshape.getShapeList() : dims;
        return Shape.of(actual.stream().mapToLong(Long::longValue).toArray());
    }

    private void checkScalar(ConfiguredTensors tensors, String name, Shape dims) {
        if (dims.elementCount() != 1) {
            throw new ConfigurationException(
                    tensors.path(name).then("dims"),
                    "unable to load model '" + config.getName() + "', scalar tensor '" + name
                            + "', should only provide 1 in the model configuration when the model doesn't support"
                            + " batching. Model configuration provided: " + dims + ".",
                    "write dims: [ 1 ]");
        }
    }

    private void check(String kind, ConfiguredTensors tensors, String name, Datatype datatype, Shape dims) {
        Shape actual = tensors.find(name, datatype).spec().shape();
        boolean batching = config.getMaxBatchSize() > 0;
        if (!batching && actual.rank() == 0) {
            checkScalar(tensors, name, dims);
            return;
        }
        if (batching && (actual.rank() == 0 || actual.dim(0) != Shape.VARIABLE)) {
            throw new ConfigurationException(
                    ConfigurationPath.of("max_batch_size"),
                    "unable to load model '" + config.getName() + "', " + kind + " '"
                            + name + "' has shape " + actual + " in the model file, whose first dimension is not"
                            + " variable; max_batch_size " + config.getMaxBatchSize() + " needs that, set it to 0");
        }
        Shape full = batching ? dims.prepend(Shape.VARIABLE) : dims;
        if (!ConfiguredTensors.areCompatible(full, actual)) {
            throw new ConfigurationException(
                    tensors.path(name).then("dims"),
                    "model '" + config.getName() + "', tensor '" + name
                            + "': the model expects " + actual.rank() + " dimensions (shape " + actual
                            + ") but the model configuration specifies " + full.rank() + " dimensions ("
                            + (batching
                                    ? "an initial batch dimension because max_batch_size > 0 followed by the explicit"
                                            + " tensor shape, making complete shape "
                                    : "shape ")
                            + full + ")");
        }
    }
}
