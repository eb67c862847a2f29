// SPDX-License-Identifier: Apache-2.0
package gatun.spi.model;

import gatun.memory.tensor.Shape;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Datatypes;
import gatun.spi.EntryTensor;
import gatun.spi.SequenceTensors;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelTensorReshape;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Completes configurations from tensors in model files, as Triton does. Not thread-safe. */
public final class ConfigurationCompletion {
    private static final List<Long> ONE = List.of(1L);

    private final ModelConfig config;
    private final List<EntryTensor> inputs;
    private final List<EntryTensor> outputs;
    private final int defaultMaxBatchSize;
    private final boolean scalars;

    /**
     * Completes {@code config}, which says nothing of some tensors.
     *
     * @param inputs all of the file's inputs
     * @param outputs all of the file's outputs
     * @param defaultMaxBatchSize for a model that can batch and does not say how much; 0 for none
     * @param scalars whether clients exchange tensors without dimensions with a model that does not batch; otherwise
     *     they have one dimension of size 1 for clients
     */
    public ConfigurationCompletion(
            ModelConfig config,
            List<EntryTensor> inputs,
            List<EntryTensor> outputs,
            int defaultMaxBatchSize,
            boolean scalars) {
        this.config = config;
        this.inputs = List.copyOf(inputs);
        this.outputs = List.copyOf(outputs);
        this.defaultMaxBatchSize = defaultMaxBatchSize;
        this.scalars = scalars;
    }

    /** Whether a configuration leaves something open that a model file knows. */
    public static boolean isNeeded(ModelConfig config) {
        return config.getInputCount() == 0 || config.getOutputCount() == 0;
    }

    /** The completed configuration. Throws ConfigurationException when it asks for batches and the model cannot. */
    public ModelConfig complete() {
        boolean canBatch =
                Stream.concat(inputs.stream(), outputs.stream()).allMatch(ConfigurationCompletion::firstIsVariable);
        if (!canBatch && config.getMaxBatchSize() > 0) {
            throw new ConfigurationException(
                    ConfigurationPath.of("max_batch_size"),
                    "autofill failed for model '" + config.getName()
                            + "': model does not support batching while non-zero max_batch_size is specified",
                    "write max_batch_size: 0, or leave it out");
        }
        ModelConfig.Builder completed = config.toBuilder();
        if (canBatch && config.getMaxBatchSize() == 0) {
            completed.setMaxBatchSize(defaultMaxBatchSize);
        }
        if (completed.getMaxBatchSize() > 1
                && config.getSchedulingChoiceCase() == ModelConfig.SchedulingChoiceCase.SCHEDULINGCHOICE_NOT_SET) {
            completed.setDynamicBatching(ModelDynamicBatching.getDefaultInstance());
        }
        boolean batched = completed.getMaxBatchSize() > 0;
        SequenceTensors sequenceTensors = new SequenceTensors(config);
        if (config.getInputCount() == 0) {
            inputs.stream()
                    .filter(input -> !sequenceTensors.hasInput(input.spec().name()))
                    .forEach(input -> completed.addInput(input(input, batched)));
        }
        if (config.getOutputCount() == 0) {
            outputs.stream()
                    .filter(output -> !sequenceTensors.hasOutput(output.spec().name()))
                    .forEach(output -> completed.addOutput(output(output, batched)));
        }
        return completed.build();
    }

    private static boolean firstIsVariable(EntryTensor tensor) {
        Shape shape = tensor.spec().shape();
        return !tensor.anyShape() && shape.rank() > 0 && shape.dim(0) == Shape.VARIABLE;
    }

    private ModelInput input(EntryTensor tensor, boolean batched) {
        List<Long> dims = dims(tensor, batched);
        ModelInput.Builder input = ModelInput.newBuilder()
                .setName(tensor.spec().name())
                .setDataType(Datatypes.configured(tensor.spec().datatype()))
                .setOptional(tensor.optional())
                .addAllDims(dims.isEmpty() ? ONE : dims);
        if (dims.isEmpty() && (batched || scalars)) {
            input.setReshape(ModelTensorReshape.getDefaultInstance());
        }
        return input.build();
    }

    private ModelOutput output(EntryTensor tensor, boolean batched) {
        List<Long> dims = dims(tensor, batched);
        ModelOutput.Builder output = ModelOutput.newBuilder()
                .setName(tensor.spec().name())
                .setDataType(Datatypes.configured(tensor.spec().datatype()))
                .addAllDims(dims.isEmpty() ? ONE : dims);
        if (dims.isEmpty() && (batched || scalars)) {
            output.setReshape(ModelTensorReshape.getDefaultInstance());
        }
        return output.build();
    }

    /** A tensor of any rank has rank one in the configuration, which can say no more to its clients. */
    private static List<Long> dims(EntryTensor tensor, boolean batched) {
        if (tensor.anyShape()) {
            return List.of(Shape.VARIABLE);
        }
        Shape shape =
                batched ? tensor.spec().shape().withoutFirst() : tensor.spec().shape();
        return Arrays.stream(shape.toArray()).boxed().toList();
    }
}
