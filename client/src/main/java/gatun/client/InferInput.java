// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;

/** An input of a request. */
public sealed interface InferInput {
    /** Name, datatype and shape. */
    TensorSpec spec();

    /** An input that travels with the request. Borrows the tensor's memory until the last call has returned. */
    record Sent(Tensor tensor) implements InferInput {
        @Override
        public TensorSpec spec() {
            return tensor.spec();
        }
    }

    /**
     * An input that lies in a registered region.
     *
     * @param region the region's name at the server
     * @param offset where it begins there, in bytes
     * @param byteSize its size
     */
    record InRegion(TensorSpec spec, String region, long offset, long byteSize) implements InferInput {}
}
