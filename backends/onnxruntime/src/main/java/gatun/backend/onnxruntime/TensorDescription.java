// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.EntryTensor;
import java.util.List;

/**
 * An input or output as the model file describes it.
 *
 * @param name its name
 * @param datatype its elements; INVALID for types that no protocol can carry
 * @param shape its full dimensions, -1 where the file leaves one open
 * @param symbols a name for each dimension that is open and named, otherwise empty; equal names mean equal sizes
 */
record TensorDescription(String name, Datatype datatype, Shape shape, List<String> symbols) {
    /** The same without the names of its dimensions. */
    EntryTensor entryTensor() {
        return EntryTensor.of(new TensorSpec(name, datatype, shape));
    }
}
