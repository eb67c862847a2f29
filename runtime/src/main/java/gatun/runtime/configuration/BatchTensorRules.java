// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.wire.inference.BatchInput;
import gatun.wire.inference.BatchOutput;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Checks the tensors that a configuration lets the server make of a batch, and cut from one. */
final class BatchTensorRules {
    private BatchTensorRules() {}

    /**
     * @param config whose inputs and outputs are checked already
     * @throws GatunException INVALID_ARGUMENT with the first rule that {@code config} breaks
     */
    static void check(ModelConfig config) {
        Set<String> names = new HashSet<>();
        config.getInputList().forEach(input -> names.add(input.getName()));
        for (BatchInput input : config.getBatchInputList()) {
            checkInput(config, input, names);
        }
        names.clear();
        for (BatchOutput output : config.getBatchOutputList()) {
            checkOutput(config, output, names);
        }
        require(
                config.getMaxBatchSize() > 0 || config.getBatchInputCount() + config.getBatchOutputCount() == 0,
                config,
                "'batch_input' and 'batch_output' need a 'max_batch_size' of at least 1");
    }

    private static void checkInput(ModelConfig config, BatchInput input, Set<String> names) {
        require(
                input.getKind() != BatchInput.Kind.UNRECOGNIZED,
                config,
                "unknown batch input kind '" + input.getKindValue() + "'");
        int sources = input.getSourceInputCount();
        require(
                sources == 1,
                config,
                "batch input kind '" + input.getKind() + "' expects 1 source input, got " + sources);
        require(
                input.getDataType() == DataType.TYPE_INT32 || input.getDataType() == DataType.TYPE_FP32,
                config,
                "batch input data type must be TYPE_INT32 or TYPE_FP32");
        source(config, input.getSourceInput(0));
        for (String target : input.getTargetNameList()) {
            require(names.add(target), config, "batch input '" + target + "' is given twice");
        }
    }

    private static void checkOutput(ModelConfig config, BatchOutput output, Set<String> names) {
        require(
                output.getKind() != BatchOutput.Kind.UNRECOGNIZED,
                config,
                "unknown batch output kind '" + output.getKindValue() + "'");
        int sources = output.getSourceInputCount();
        require(
                sources == 1,
                config,
                "batch output kind '" + output.getKind() + "' expects 1 source input, got " + sources);
        ModelInput source = source(config, output.getSourceInput(0));
        for (String target : output.getTargetNameList()) {
            ModelOutput cut = config.getOutputList().stream()
                    .filter(candidate -> candidate.getName().equals(target))
                    .findFirst()
                    .orElseThrow(() -> broken(config, "unknown target output name '" + target + "'"));
            require(names.add(target), config, "target output name '" + target + "' can only be specified once");
            checkDimensions(config, cut, source);
        }
    }

    /** Each variable dimension of the output must be one that the input has too. */
    private static void checkDimensions(ModelConfig config, ModelOutput output, ModelInput source) {
        List<Long> dims = output.hasReshape() ? output.getReshape().getShapeList() : output.getDimsList();
        int known = source.hasReshape() ? source.getReshape().getShapeCount() : source.getDimsCount();
        int last = dims.lastIndexOf(Shape.VARIABLE);
        require(
                last < known,
                config,
                "target output '" + output.getName() + "' has variable dimension " + last + ", source input '"
                        + source.getName() + "' has only " + known + " dimensions to take it from,");
    }

    private static ModelInput source(ModelConfig config, String name) {
        Optional<ModelInput> source = config.getInputList().stream()
                .filter(input -> input.getName().equals(name))
                .findFirst();
        return source.orElseThrow(() -> broken(config, "unknown source input name '" + name + "'"));
    }

    private static void require(boolean holds, ModelConfig config, String otherwise) {
        if (!holds) {
            throw broken(config, otherwise);
        }
    }

    private static GatunException broken(ModelConfig config, String rule) {
        return GatunException.invalidArgument(rule + " for " + config.getName());
    }
}
