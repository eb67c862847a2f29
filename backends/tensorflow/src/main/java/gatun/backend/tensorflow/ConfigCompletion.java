// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.spi.Datatypes;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelTensorReshape;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Completes a configuration from the signature that it describes, by the rules of Triton's TensorFlow backend. */
final class ConfigCompletion {
    private final ModelConfig config;
    private final EntryPoint entryPoint;
    private final int defaultMaxBatchSize;

    /** @param defaultMaxBatchSize for a model that can batch and does not say how much; 0 for none */
    ConfigCompletion(ModelConfig config, EntryPoint entryPoint, int defaultMaxBatchSize) {
        this.config = config;
        this.entryPoint = entryPoint;
        this.defaultMaxBatchSize = defaultMaxBatchSize;
    }

    /** Whether a configuration leaves something open that a model file knows. */
    static boolean isNeeded(ModelConfig config) {
        return config.getInputCount() == 0 || config.getOutputCount() == 0;
    }

    /**
     * The completed configuration.
     *
     * @throws GatunException when the configuration asks for batches and the model cannot
     */
    ModelConfig complete() {
        boolean canBatch = Stream.concat(entryPoint.inputs().stream(), entryPoint.outputs().stream())
                .allMatch(ConfigCompletion::firstIsVariable);
        if (!canBatch && config.getMaxBatchSize() > 0) {
            throw GatunException.invalidArgument("autofill failed for model '" + config.getName()
                    + "': model does not support batching while non-zero max_batch_size is specified");
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
        if (config.getInputCount() == 0) {
            entryPoint.inputs().forEach(input -> completed.addInput(input(input, batched)));
        }
        if (config.getOutputCount() == 0) {
            entryPoint.outputs().forEach(output -> completed.addOutput(output(output, batched)));
        }
        return completed.build();
    }

    private static boolean firstIsVariable(EntryTensor tensor) {
        Shape shape = tensor.spec().shape();
        return !tensor.anyShape() && shape.rank() > 0 && shape.dim(0) == Shape.VARIABLE;
    }

    private static ModelInput input(EntryTensor tensor, boolean batched) {
        ModelInput.Builder input = ModelInput.newBuilder()
                .setName(tensor.spec().name())
                .setDataType(Datatypes.configured(tensor.spec().datatype()));
        List<Long> dims = dims(tensor, batched);
        if (dims.isEmpty()) {
            return input.addDims(1)
                    .setReshape(ModelTensorReshape.getDefaultInstance())
                    .build();
        }
        return input.addAllDims(dims).build();
    }

    private static ModelOutput output(EntryTensor tensor, boolean batched) {
        ModelOutput.Builder output = ModelOutput.newBuilder()
                .setName(tensor.spec().name())
                .setDataType(Datatypes.configured(tensor.spec().datatype()));
        List<Long> dims = dims(tensor, batched);
        if (dims.isEmpty()) {
            return output.addDims(1)
                    .setReshape(ModelTensorReshape.getDefaultInstance())
                    .build();
        }
        return output.addAllDims(dims).build();
    }

    /**
     * A tensor of any rank is one of rank one to clients that know the configuration only, since that can say no more.
     */
    private static List<Long> dims(EntryTensor tensor, boolean batched) {
        if (tensor.anyShape()) {
            return List.of(Shape.VARIABLE);
        }
        Shape shape =
                batched ? tensor.spec().shape().withoutFirst() : tensor.spec().shape();
        return Arrays.stream(shape.toArray()).boxed().toList();
    }
}
