// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static gatun.runtime.configuration.Rule.require;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import gatun.memory.tensor.Shape;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelTensorReshape;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Checks the inputs and outputs of a configuration. */
final class TensorRules {
    private static final String DATATYPES = DataType.getDescriptor().getValues().stream()
            .filter(value -> value.getNumber() != DataType.TYPE_INVALID_VALUE)
            .map(EnumValueDescriptor::getName)
            .collect(Collectors.joining(", "));

    private TensorRules() {}

    /** Checks each tensor, then those made of a batch. Throws ConfigurationException with the first broken rule. */
    static void check(EngineCatalog engines, ModelConfig config, Consumer<Runnable> parts) {
        boolean scalars = config.getMaxBatchSize() > 0 || engines.takesScalars(config);
        Set<String> names = new HashSet<>();
        for (int i = 0; i < config.getInputCount(); i++) {
            ModelInput input = config.getInput(i);
            ConfigurationPath path = ConfigurationPath.of("input", i);
            parts.accept(() -> checkInput(config, input, path, scalars));
            parts.accept(() -> requireNew(names.add(input.getName()), config, path, "input", input.getName()));
        }
        names.clear();
        for (int i = 0; i < config.getOutputCount(); i++) {
            ModelOutput output = config.getOutput(i);
            ConfigurationPath path = ConfigurationPath.of("output", i);
            parts.accept(() -> checkOutput(config, output, path, scalars));
            parts.accept(() -> requireNew(names.add(output.getName()), config, path, "output", output.getName()));
        }
        parts.accept(() -> BatchTensorRules.check(config));
    }

    private static void requireNew(
            boolean isNew, ModelConfig config, ConfigurationPath path, String kind, String name) {
        require(isNew, config, path, "model " + kind + " '" + name + "' is given twice", "remove one of the two");
    }

    private static void checkInput(ModelConfig config, ModelInput input, ConfigurationPath path, boolean scalars) {
        require(!input.getName().isEmpty(), config, path, "model input must specify 'name'");
        String subject = "model input '" + input.getName() + "' ";
        checkDatatype(config, path, subject, input.getDataType());
        checkDims(config, path, subject, input.getDimsList());
        if (input.hasReshape()) {
            checkReshape(config, path, subject, input.getDimsList(), input.getReshape(), scalars);
        }
        require(
                input.getFormat() == ModelInput.Format.FORMAT_NONE || input.getDimsCount() == 3,
                config,
                path.then("format"),
                "model input NHWC/NCHW require 3 dims");
        checkOrdinary(config, path, input.getIsShapeTensor(), input.getIsNonLinearFormatIo());
        require(
                !input.getAllowRaggedBatch() || config.getMaxBatchSize() > 0,
                config,
                path.then("allow_ragged_batch"),
                subject + "sets 'allow_ragged_batch', which needs a 'max_batch_size' of at least 1,");
    }

    private static void checkOutput(ModelConfig config, ModelOutput output, ConfigurationPath path, boolean scalars) {
        require(!output.getName().isEmpty(), config, path, "model output must specify 'name'");
        String subject = "model output '" + output.getName() + "' ";
        checkDatatype(config, path, subject, output.getDataType());
        checkDims(config, path, subject, output.getDimsList());
        if (output.hasReshape()) {
            checkReshape(config, path, subject, output.getDimsList(), output.getReshape(), scalars);
        }
        checkOrdinary(config, path, output.getIsShapeTensor(), output.getIsNonLinearFormatIo());
    }

    private static void checkOrdinary(
            ModelConfig config, ConfigurationPath path, boolean isShapeTensor, boolean isNonLinear) {
        require(
                !isShapeTensor,
                config,
                path.then("is_shape_tensor"),
                "shape tensors are only supported for TensorRT platform",
                "leave is_shape_tensor out");
        require(
                !isNonLinear,
                config,
                path.then("is_non_linear_format_io"),
                "non-linear formats of inputs and outputs are only supported for TensorRT platform",
                "leave is_non_linear_format_io out");
    }

    static void checkDatatype(ModelConfig config, ConfigurationPath path, String subject, DataType datatype) {
        require(
                datatype != DataType.TYPE_INVALID && datatype != DataType.UNRECOGNIZED,
                config,
                path.then("data_type"),
                subject + "must specify 'data_type'",
                "write data_type: " + DATATYPES + ", without quotes");
    }

    static void checkDims(ModelConfig config, ConfigurationPath path, String subject, List<Long> dims) {
        require(
                !dims.isEmpty(),
                config,
                path.then("dims"),
                subject + "must specify 'dims'",
                "write dims: [ ... ], without the batch dimension where max_batch_size is at least 1");
        require(
                dims.stream().allMatch(TensorRules::isDimension),
                config,
                path.then("dims"),
                subject + "dimension must be integer >= 1, or -1 to indicate a variable-size dimension",
                "write -1 for a dimension of any size; the batch dimension is not written, max_batch_size stands for"
                        + " it");
    }

    private static boolean isDimension(long dim) {
        return dim >= 1 || dim == Shape.VARIABLE;
    }

    private static void checkReshape(
            ModelConfig config,
            ConfigurationPath path,
            String subject,
            List<Long> dims,
            ModelTensorReshape reshape,
            boolean scalars) {
        ConfigurationPath place = path.then("reshape");
        List<Long> shape = reshape.getShapeList();
        require(
                scalars || !shape.isEmpty(),
                config,
                place,
                subject + "cannot have empty reshape for non-batching model as scalar tensors are not supported");
        require(
                shape.stream().allMatch(TensorRules::isDimension),
                config,
                place,
                subject + "reshape dimensions must be integer >= 1, or -1 to indicate a variable-size dimension");
        List<Long> dimsPieces = piecesBetweenVariables(dims);
        List<Long> shapePieces = piecesBetweenVariables(shape);
        // Where one of them is fixed and the other is not, their sizes differ.
        boolean bothFixedOrNeither = (dimsPieces.size() == 1) == (shapePieces.size() == 1);
        require(bothFixedOrNeither, config, place, subject + "has different size for dims and reshape");
        require(
                dimsPieces.size() == shapePieces.size(),
                config,
                place,
                subject + "has different number of variable-size dimensions for dims and reshape");
        require(dimsPieces.equals(shapePieces), config, place, subject + "has different size for dims and reshape");
    }

    /** The products of the dimensions before, between and after the variable ones. */
    private static List<Long> piecesBetweenVariables(List<Long> dims) {
        List<Long> pieces = new ArrayList<>();
        long product = 1;
        for (long dim : dims) {
            if (dim == Shape.VARIABLE) {
                pieces.add(product);
                product = 1;
            } else {
                product *= dim;
            }
        }
        pieces.add(product);
        return pieces;
    }
}
