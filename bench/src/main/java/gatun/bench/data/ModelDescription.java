// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import gatun.memory.tensor.TensorSpec;
import java.util.List;

/**
 * The facts about a model that a request to it needs.
 *
 * @param inputs its inputs, a batch's dimension included
 * @param batched whether the first dimension of every tensor is that of a batch
 * @param decoupled whether a request may have any number of responses
 * @param optionalInputs the inputs that may be left out
 */
public record ModelDescription(
        String name,
        List<TensorSpec> inputs,
        List<TensorSpec> outputs,
        boolean batched,
        boolean decoupled,
        List<String> optionalInputs) {
    /** Keeps copies of the lists. */
    public ModelDescription {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        optionalInputs = List.copyOf(optionalInputs);
    }
}
