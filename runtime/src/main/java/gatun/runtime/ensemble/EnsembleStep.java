// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import java.util.List;

/**
 * One model in an ensemble, and which ensemble tensors it reads and writes.
 *
 * @param index its place in the configuration, from 0
 * @param model the member's name
 * @param version the member's version, or {@link MemberModels#LATEST}
 * @param inputs the member's inputs and where they come from
 * @param outputs the member's outputs and where they go
 */
record EnsembleStep(int index, String model, long version, List<Link> inputs, List<Link> outputs) {
    /**
     * A tensor of the member that is a tensor of the ensemble.
     *
     * @param name the tensor's name in the member
     * @param tensor the number of the ensemble tensor
     */
    record Link(String name, int tensor) {}

    EnsembleStep {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }
}
