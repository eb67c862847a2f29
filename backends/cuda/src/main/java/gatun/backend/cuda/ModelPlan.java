// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import java.util.List;

/**
 * The plan of a model's runs: sizes of outputs and of scratch memory, then kernels in a row. Immutable after it was
 * made.
 *
 * @param tensors the tensors that the kernels know
 * @param batching whether the tensors have a batch dimension in front
 * @param outputShapes the dimensions of each output, the batch dimension included
 * @param scratchBytes the size of each scratch memory
 * @param kernels the launches, in their order
 */
record ModelPlan(
        TensorTable tensors,
        boolean batching,
        List<List<Formula>> outputShapes,
        List<Formula> scratchBytes,
        List<KernelPlan> kernels) {}
