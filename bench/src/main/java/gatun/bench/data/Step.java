// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import gatun.memory.tensor.Tensor;
import java.util.List;

/**
 * One request of a data set.
 *
 * @param inputs the inputs that are sent; borrowed from the data set
 * @param expected the outputs that are expected
 * @param start whether it begins a sequence
 * @param end whether it ends one
 */
public record Step(List<Tensor> inputs, ExpectedOutputs expected, boolean start, boolean end) {
    /** Keeps a copy of the list. */
    public Step {
        inputs = List.copyOf(inputs);
    }

    /** Bytes of all inputs. */
    public long byteSize() {
        long byteSize = 0;
        for (Tensor input : inputs) {
            byteSize += input.byteSize();
        }
        return byteSize;
    }
}
