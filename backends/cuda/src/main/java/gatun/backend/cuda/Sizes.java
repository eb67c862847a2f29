// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;

/** The sizes of one run, by the numbers of {@link TensorTable}, for expressions. Set by each run. */
final class Sizes {
    /** Of inputs and outputs; null for scratch memory and for tensors that are not set yet. */
    private final Shape[] shapes;

    private final long[] elementCounts;
    private final long[] byteSizes;
    private long batch = 1;

    Sizes(int tensorCount) {
        shapes = new Shape[tensorCount];
        elementCounts = new long[tensorCount];
        byteSizes = new long[tensorCount];
    }

    /** How many rows the run has; 1 of a model without a batch dimension. */
    long batch() {
        return batch;
    }

    void batch(long rows) {
        batch = rows;
    }

    /** The whole shape of an input or output, the batch dimension included. */
    Shape shape(int tensor) {
        return shapes[tensor];
    }

    long elementCount(int tensor) {
        return elementCounts[tensor];
    }

    long byteSize(int tensor) {
        return byteSizes[tensor];
    }

    /** Sets an input or output; false, with nothing set, when its bytes cannot be counted. */
    boolean shape(int tensor, Datatype datatype, Shape shape) {
        long bytes = shape.byteSize(datatype);
        if (bytes < 0) {
            return false;
        }
        shapes[tensor] = shape;
        elementCounts[tensor] = shape.elementCount();
        byteSizes[tensor] = bytes;
        return true;
    }

    void byteSize(int tensor, long bytes) {
        byteSizes[tensor] = bytes;
    }
}
