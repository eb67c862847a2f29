// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelTensorReshape;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Checks the inputs and outputs of a configuration. */
final class TensorRules {
    private TensorRules() {}

    /** @throws GatunException INVALID_ARGUMENT with the first rule that {@code config} breaks */
    static void check(ModelConfig config) {
        Set<String> names = new HashSet<>();
        for (ModelInput input : config.getInputList()) {
            checkInput(config, input);
            require(names.add(input.getName()), config, "model input '" + input.getName() + "' is given twice");
        }
        names.clear();
        for (ModelOutput output : config.getOutputList()) {
            checkOutput(config, output);
            require(names.add(output.getName()), config, "model output '" + output.getName() + "' is given twice");
        }
        BatchTensorRules.check(config);
    }

    private static void checkInput(ModelConfig config, ModelInput input) {
        require(!input.getName().isEmpty(), config, "model input must specify 'name'");
        String subject = "model input '" + input.getName() + "' ";
        checkTensor(config, subject, input.getDataType(), input.getDimsList(), input.hasReshape(), input.getReshape());
        require(
                input.getFormat() == ModelInput.Format.FORMAT_NONE || input.getDimsCount() == 3,
                config,
                "model input NHWC/NCHW require 3 dims");
        require(!input.getIsShapeTensor(), config, "shape tensors are only supported for TensorRT platform");
        require(
                !input.getAllowRaggedBatch() || config.getMaxBatchSize() > 0,
                config,
                subject + "sets 'allow_ragged_batch', which needs a 'max_batch_size' of at least 1,");
    }

    private static void checkOutput(ModelConfig config, ModelOutput output) {
        require(!output.getName().isEmpty(), config, "model output must specify 'name'");
        String subject = "model output '" + output.getName() + "' ";
        checkTensor(
                config, subject, output.getDataType(), output.getDimsList(), output.hasReshape(), output.getReshape());
        require(!output.getIsShapeTensor(), config, "shape tensors are only supported for TensorRT platform");
    }

    private static void checkTensor(
            ModelConfig config,
            String subject,
            DataType datatype,
            List<Long> dims,
            boolean reshaped,
            ModelTensorReshape reshape) {
        checkDatatype(config, subject, datatype);
        checkDims(config, subject, dims);
        if (reshaped) {
            checkReshape(config, subject, dims, reshape.getShapeList());
        }
    }

    static void checkDatatype(ModelConfig config, String subject, DataType datatype) {
        require(
                datatype != DataType.TYPE_INVALID && datatype != DataType.UNRECOGNIZED,
                config,
                subject + "must specify 'data_type'");
    }

    static void checkDims(ModelConfig config, String subject, List<Long> dims) {
        require(!dims.isEmpty(), config, subject + "must specify 'dims'");
        for (long dim : dims) {
            require(
                    dim >= 1 || dim == Shape.VARIABLE,
                    config,
                    subject + "dimension must be integer >= 1, or -1 to indicate a variable-size dimension");
        }
    }

    private static void checkReshape(ModelConfig config, String subject, List<Long> dims, List<Long> shape) {
        require(
                !shape.isEmpty() || config.getMaxBatchSize() > 0 || BackendChoice.isSavedModel(config),
                config,
                subject + "cannot have empty reshape for non-batching model as scalar tensors are not supported");
        for (long dim : shape) {
            require(
                    dim >= 1 || dim == Shape.VARIABLE,
                    config,
                    subject + "reshape dimensions must be integer >= 1, or -1 to indicate a variable-size dimension");
        }
        List<Long> dimsPieces = piecesBetweenVariables(dims);
        List<Long> shapePieces = piecesBetweenVariables(shape);
        require(
                dimsPieces.size() == shapePieces.size(),
                config,
                subject + "has different number of variable-size dimensions for dims and reshape");
        require(dimsPieces.equals(shapePieces), config, subject + "has different size for dims and reshape");
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

    private static void require(boolean holds, ModelConfig config, String otherwise) {
        if (!holds) {
            throw GatunException.invalidArgument(otherwise + " for " + config.getName());
        }
    }
}
