// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.backend.cuda.TensorTable.Kind;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Datatypes;
import gatun.spi.SequenceTensors;
import gatun.wire.inference.BatchInput;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelTensorReshape;
import java.util.List;
import java.util.Optional;

/** The inputs and outputs that a configuration names, as kernels get them. For one thread, at load. */
final class ConfiguredTensors {
    private final ModelConfig config;
    private final TensorTable tensors = new TensorTable();

    private ConfiguredTensors(ModelConfig config) {
        this.config = config;
    }

    /** A table of the tensors of {@code config}. Throws INVALID_ARGUMENT for none, or one that no kernel can take. */
    static TensorTable of(ModelConfig config) {
        return new ConfiguredTensors(config).read();
    }

    private TensorTable read() {
        if (config.getInputCount() == 0) {
            throw refused(
                    ConfigurationPath.MODEL,
                    "its configuration has no 'input'; a file of kernels does not tell them, list them all");
        }
        if (config.getOutputCount() == 0) {
            throw refused(
                    ConfigurationPath.MODEL,
                    "its configuration has no 'output'; a file of kernels does not tell them, list them all");
        }
        for (ModelInput input : config.getInputList()) {
            if (input.getOptional()) {
                throw refused(
                        path(Kind.INPUT, input.getName()).then("optional"),
                        "input '" + input.getName() + "' is optional; kernels need all their inputs");
            }
            // The shape of a ragged input is the file's business in other backends; a kernel takes any.
            Optional<Shape> shape = input.getAllowRaggedBatch()
                    ? Optional.empty()
                    : Optional.of(whole(input.getDimsList(), input.hasReshape(), input.getReshape()));
            add(Kind.INPUT, input.getName(), Datatypes.of(input.getDataType()), shape);
        }
        for (BatchInput input : config.getBatchInputList()) {
            for (String target : input.getTargetNameList()) {
                add(Kind.INPUT, target, Datatypes.of(input.getDataType()), Optional.empty());
            }
        }
        SequenceTensors sequence = new SequenceTensors(config);
        for (SequenceTensors.Described input : sequence.inputs()) {
            add(Kind.INPUT, input.name(), input.datatype(), Optional.of(whole(input.dims())));
        }
        for (ModelOutput output : config.getOutputList()) {
            Shape shape = whole(output.getDimsList(), output.hasReshape(), output.getReshape());
            add(Kind.OUTPUT, output.getName(), Datatypes.of(output.getDataType()), Optional.of(shape));
        }
        for (SequenceTensors.Described output : sequence.outputs()) {
            add(Kind.OUTPUT, output.name(), output.datatype(), Optional.of(whole(output.dims())));
        }
        return tensors;
    }

    private void add(Kind kind, String name, Datatype datatype, Optional<Shape> shape) {
        if (!datatype.isFixedSize()) {
            throw refused(
                    path(kind, name).then("data_type"),
                    (kind == Kind.INPUT ? "input '" : "output '") + name + "' is of " + Datatypes.configured(datatype)
                            + "; kernels take numbers only");
        }
        if (!tensors.add(kind, name, datatype, shape)) {
            throw refused(path(kind, name), "two of its tensors are called '" + name + "'; kernels know them by name");
        }
    }

    /** The dimensions that the kernels get: reshaped where the configuration says so, and with that of the batch. */
    private Shape whole(List<Long> dims, boolean reshaped, ModelTensorReshape reshape) {
        List<Long> actual = reshaped ? reshape.getShapeList() : dims;
        return whole(Shape.of(actual.stream().mapToLong(Long::longValue).toArray()));
    }

    private Shape whole(Shape shape) {
        return config.getMaxBatchSize() > 0 ? shape.prepend(Shape.VARIABLE) : shape;
    }

    private static ConfigurationPath path(Kind kind, String name) {
        return ConfigurationPath.of(kind == Kind.INPUT ? "input" : "output", name);
    }

    private GatunException refused(ConfigurationPath path, String reason) {
        return new ConfigurationException(
                path, "the cuda backend cannot run model '" + config.getName() + "': " + reason);
    }
}
