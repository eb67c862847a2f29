// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Datatypes;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.spi.model.ConfiguredTensors;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.util.List;

/** Compares a configuration with its signature, at load, so that no request is the first to find out. */
final class ConfigCheck {
    private final ModelConfig config;

    private ConfigCheck(ModelConfig config) {
        this.config = config;
    }

    /** Checks names, datatypes and dimensions. Throws {@link ConfigurationException} for the first misfit. */
    static void run(ModelConfig config, EntryPoint entryPoint) {
        ConfigCheck check = new ConfigCheck(config);
        ConfiguredTensors inputs = new ConfiguredTensors(config.getName(), "input", entryPoint.inputs());
        ConfiguredTensors outputs = new ConfiguredTensors(config.getName(), "output", entryPoint.outputs());
        for (ModelInput input : config.getInputList()) {
            check.check(
                    "input",
                    inputs,
                    input.getName(),
                    Datatypes.of(input.getDataType()),
                    input.hasReshape() ? input.getReshape().getShapeList() : input.getDimsList());
        }
        for (EntryTensor input : entryPoint.inputs()) {
            if (!input.optional()
                    && config.getInputList().stream().noneMatch(known -> known.getName()
                            .equals(input.spec().name()))) {
                throw new ConfigurationException(
                        ConfigurationPath.of("input"),
                        "unable to load model '" + config.getName()
                                + "', configuration misses input '"
                                + input.spec().name() + "' of the model's signature '"
                                + entryPoint.name() + "', inputs are: " + inputs.names());
            }
        }
        for (ModelOutput output : config.getOutputList()) {
            check.check(
                    "output",
                    outputs,
                    output.getName(),
                    Datatypes.of(output.getDataType()),
                    output.hasReshape() ? output.getReshape().getShapeList() : output.getDimsList());
        }
    }

    private void check(String kind, ConfiguredTensors tensors, String name, Datatype datatype, List<Long> dims) {
        EntryTensor tensor = tensors.find(name, datatype);
        Shape own = Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
        Shape full = config.getMaxBatchSize() > 0 ? own.prepend(Shape.VARIABLE) : own;
        if (!tensor.anyShape()
                && !ConfiguredTensors.areCompatible(full, tensor.spec().shape())) {
            throw new ConfigurationException(
                    tensors.path(name).then("dims"),
                    "unable to load model '" + config.getName()
                            + "', configuration expects "
                            + kind + " '" + name + "' with shape " + full
                            + ", the batch dimension included where there is one,"
                            + " model provides " + tensor.spec().shape());
        }
    }
}
