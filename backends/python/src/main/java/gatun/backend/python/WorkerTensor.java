// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.TensorSpec;
import java.util.Map;

/**
 * A tensor in response memory.
 *
 * @param offset where its bytes begin
 * @param byteSize how many there are
 */
record WorkerTensor(TensorSpec spec, long offset, long byteSize) {
    /**
     * The same for one row of a tensor that rows share: models may leave the batch dimension out, as in Triton.
     *
     * @param ranks how many dimensions outputs have there, by name
     */
    WorkerTensor withBatchDimension(Map<String, Integer> ranks) {
        if (ranks.getOrDefault(spec.name(), 0) != spec.shape().rank() + 1) {
            return this;
        }
        TensorSpec longer =
                new TensorSpec(spec.name(), spec.datatype(), spec.shape().prepend(1));
        return new WorkerTensor(longer, offset, byteSize);
    }
}
