// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.TensorSpec;
import java.util.List;

/**
 * The metadata of a model, as a server tells it.
 *
 * @param name the model's name
 * @param versions the versions that are ready
 * @param platform the engine that runs it, as the server names it
 * @param inputs the inputs, the batch dimension included; -1 for a dimension of any size
 * @param outputs the outputs, likewise
 */
public record ModelMetadata(
        String name, List<String> versions, String platform, List<TensorSpec> inputs, List<TensorSpec> outputs) {
    /** Keeps copies of the lists. */
    public ModelMetadata {
        versions = List.copyOf(versions);
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }
}
