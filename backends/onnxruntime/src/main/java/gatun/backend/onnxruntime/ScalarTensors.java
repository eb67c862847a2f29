// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tensor.Shape;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelOutput;
import java.util.List;

/** Tensors without dimensions in the file; clients see their configured ones, all 1. Immutable. */
final class ScalarTensors {
    private static final Shape SCALAR = Shape.of();

    private final boolean[] inputs;
    private final Shape[] outputs;

    ScalarTensors(ModelConfig config, ModelDescription model) {
        inputs = new boolean[model.inputs().size()];
        for (int i = 0; i < inputs.length; i++) {
            inputs[i] = model.inputs().get(i).shape().rank() == 0;
        }
        outputs = new Shape[model.outputs().size()];
        for (int i = 0; i < outputs.length; i++) {
            outputs[i] = configured(config, model.outputs().get(i).name());
        }
    }

    private static Shape configured(ModelConfig config, String name) {
        for (ModelOutput output : config.getOutputList()) {
            if (output.getName().equals(name)) {
                List<Long> dims = output.hasReshape() ? output.getReshape().getShapeList() : output.getDimsList();
                return Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
            }
        }
        return SCALAR;
    }

    Shape taken(int index, Shape shape) {
        return inputs[index] ? SCALAR : shape;
    }

    Shape answered(int index, Shape shape) {
        return shape.rank() == 0 ? outputs[index] : shape;
    }
}
