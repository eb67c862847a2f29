// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.spi.Datatypes;
import gatun.spi.SequenceTensors;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelTensorReshape;

/** Completes a configuration from what the model file says, by the rules of Triton's ONNX Runtime backend. */
final class ConfigCompletion {
    private final ModelConfig config;
    private final ModelDescription model;
    private final int defaultMaxBatchSize;

    ConfigCompletion(ModelConfig config, ModelDescription model, int defaultMaxBatchSize) {
        this.config = config;
        this.model = model;
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
        boolean batching = canBatch();
        ModelConfig.Builder completed = config.toBuilder();
        if (!batching && config.getMaxBatchSize() > 0) {
            throw GatunException.invalidArgument("autofill failed for model '" + config.getName()
                    + "': model does not support batching while non-zero max_batch_size is specified");
        }
        if (batching && config.getMaxBatchSize() == 0) {
            completed.setMaxBatchSize(defaultMaxBatchSize);
        }
        boolean batched = completed.getMaxBatchSize() > 0;
        if (completed.getMaxBatchSize() > 1
                && config.getSchedulingChoiceCase() == ModelConfig.SchedulingChoiceCase.SCHEDULINGCHOICE_NOT_SET) {
            completed.setDynamicBatching(ModelDynamicBatching.getDefaultInstance());
        }
        SequenceTensors sequenceTensors = new SequenceTensors(config);
        if (config.getInputCount() == 0) {
            for (TensorDescription input : model.inputs()) {
                if (!sequenceTensors.hasInput(input.name())) {
                    completed.addInput(input(input, batched));
                }
            }
        }
        if (config.getOutputCount() == 0) {
            for (TensorDescription output : model.outputs()) {
                if (!sequenceTensors.hasOutput(output.name())) {
                    completed.addOutput(output(output, batched));
                }
            }
        }
        return completed.build();
    }

    private boolean canBatch() {
        return model.inputs().stream().allMatch(ConfigCompletion::firstIsVariable)
                && model.outputs().stream().allMatch(ConfigCompletion::firstIsVariable);
    }

    private static boolean firstIsVariable(TensorDescription tensor) {
        return tensor.shape().rank() > 0 && tensor.shape().dim(0) == Shape.VARIABLE;
    }

    private static ModelInput input(TensorDescription tensor, boolean batched) {
        ModelInput.Builder input =
                ModelInput.newBuilder().setName(tensor.name()).setDataType(Datatypes.configured(tensor.datatype()));
        Shape dims = dims(tensor, batched);
        if (dims.rank() == 0) {
            return input.addDims(1).setReshape(scalar()).build();
        }
        for (int i = 0; i < dims.rank(); i++) {
            input.addDims(dims.dim(i));
        }
        return input.build();
    }

    private static ModelOutput output(TensorDescription tensor, boolean batched) {
        ModelOutput.Builder output =
                ModelOutput.newBuilder().setName(tensor.name()).setDataType(Datatypes.configured(tensor.datatype()));
        Shape dims = dims(tensor, batched);
        if (dims.rank() == 0) {
            return output.addDims(1).setReshape(scalar()).build();
        }
        for (int i = 0; i < dims.rank(); i++) {
            output.addDims(dims.dim(i));
        }
        return output.build();
    }

    private static Shape dims(TensorDescription tensor, boolean batched) {
        return batched ? tensor.shape().withoutFirst() : tensor.shape();
    }

    private static ModelTensorReshape scalar() {
        return ModelTensorReshape.getDefaultInstance();
    }
}
