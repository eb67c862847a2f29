// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.TensorSpec;
import java.util.List;

/**
 * A way to call a model, with inputs and outputs of its own: most models have one, a SavedModel one for each of its
 * signatures. Immutable.
 *
 * @param name the name that requests give it
 * @param method the kind of response it gives, in the words of the model's format, such as a signature's method name;
 *     empty where the format has none
 * @param inputs the inputs that a request must bring, the batch dimension included
 * @param outputs the outputs that a response can have, the batch dimension included
 */
public record EntryPoint(String name, String method, List<EntryTensor> inputs, List<EntryTensor> outputs) {
    /** The name of a model's only entry point, where the model's format has no names for them. */
    public static final String DEFAULT = "serving_default";

    /** Copies the lists. */
    public EntryPoint {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
    }

    /** The only entry point of a model whose format knows of none. */
    public static EntryPoint only(List<TensorSpec> inputs, List<TensorSpec> outputs) {
        return new EntryPoint(
                DEFAULT,
                "",
                inputs.stream().map(EntryTensor::of).toList(),
                outputs.stream().map(EntryTensor::of).toList());
    }
}
