// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static gatun.runtime.configuration.Rule.broken;
import static gatun.runtime.configuration.Rule.require;

import gatun.memory.tensor.Shape;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
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

    /** @throws ConfigurationException with the first rule that {@code config} breaks */
    static void check(ModelConfig config) {
        Set<String> names = new HashSet<>();
        config.getInputList().forEach(input -> names.add(input.getName()));
        for (int i = 0; i < config.getBatchInputCount(); i++) {
            checkInput(config, config.getBatchInput(i), ConfigurationPath.of("batch_input", i), names);
        }
        names.clear();
        for (int i = 0; i < config.getBatchOutputCount(); i++) {
            checkOutput(config, config.getBatchOutput(i), ConfigurationPath.of("batch_output", i), names);
        }
        require(
                config.getMaxBatchSize() > 0 || config.getBatchInputCount() + config.getBatchOutputCount() == 0,
                config,
                ConfigurationPath.of("max_batch_size"),
                "'batch_input' and 'batch_output' need a 'max_batch_size' of at least 1");
    }

    private static void checkInput(ModelConfig config, BatchInput input, ConfigurationPath path, Set<String> names) {
        require(
                input.getKind() != BatchInput.Kind.UNRECOGNIZED,
                config,
                path.then("kind"),
                "unknown batch input kind '" + input.getKindValue() + "'");
        int sources = input.getSourceInputCount();
        require(
                sources == 1,
                config,
                path.then("source_input"),
                "batch input kind '" + input.getKind() + "' expects 1 source input, got " + sources);
        require(
                input.getDataType() == DataType.TYPE_INT32 || input.getDataType() == DataType.TYPE_FP32,
                config,
                path.then("data_type"),
                "batch input data type must be TYPE_INT32 or TYPE_FP32");
        source(config, path, input.getSourceInput(0));
        for (String target : input.getTargetNameList()) {
            require(names.add(target), config, path.then("target_name"), "batch input '" + target + "' is given twice");
        }
    }

    private static void checkOutput(ModelConfig config, BatchOutput output, ConfigurationPath path, Set<String> names) {
        require(
                output.getKind() != BatchOutput.Kind.UNRECOGNIZED,
                config,
                path.then("kind"),
                "unknown batch output kind '" + output.getKindValue() + "'");
        int sources = output.getSourceInputCount();
        require(
                sources == 1,
                config,
                path.then("source_input"),
                "batch output kind '" + output.getKind() + "' expects 1 source input, got " + sources);
        ModelInput source = source(config, path, output.getSourceInput(0));
        for (String target : output.getTargetNameList()) {
            ModelOutput cut = config.getOutputList().stream()
                    .filter(candidate -> candidate.getName().equals(target))
                    .findFirst()
                    .orElseThrow(() -> broken(
                            config, path.then("target_name"), "unknown target output name '" + target + "'", ""));
            require(
                    names.add(target),
                    config,
                    path.then("target_name"),
                    "target output name '" + target + "' can only be specified once");
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
                ConfigurationPath.of("output", output.getName()).then("dims"),
                "target output '" + output.getName() + "' has variable dimension " + last + ", source input '"
                        + source.getName() + "' has only " + known + " dimensions to take it from,");
    }

    private static ModelInput source(ModelConfig config, ConfigurationPath path, String name) {
        Optional<ModelInput> source = config.getInputList().stream()
                .filter(input -> input.getName().equals(name))
                .findFirst();
        return source.orElseThrow(
                () -> broken(config, path.then("source_input"), "unknown source input name '" + name + "'", ""));
    }
}
