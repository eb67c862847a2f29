// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import java.util.List;

/** Passes shapes between models that name the batch dimension and models that do not. */
final class TensorShapes {
    private TensorShapes() {}

    /**
     * The form of {@code shape} that a model expects: where it has a batch dimension more than the tensor, the tensor
     * is a batch of one; where it has one less, a batch of one loses it. Any other shape stays, for the model to judge.
     *
     * @param expected what the model says of its tensors
     * @param batching whether the model has a batch dimension
     */
    static Shape fit(Shape shape, String name, List<TensorSpec> expected, boolean batching) {
        for (int i = 0; i < expected.size(); i++) {
            TensorSpec spec = expected.get(i);
            if (spec.name().equals(name)) {
                return fit(shape, spec.shape().rank(), batching);
            }
        }
        return shape;
    }

    /**
     * The same where a model says that the tensor has {@code rank} dimensions.
     *
     * @param batching whether the first of them is the batch dimension
     */
    static Shape fit(Shape shape, int rank, boolean batching) {
        if (batching && shape.rank() == rank - 1) {
            return shape.prepend(1);
        }
        if (!batching && shape.rank() == rank + 1 && shape.dim(0) == 1) {
            return shape.withoutFirst();
        }
        return shape;
    }
}
