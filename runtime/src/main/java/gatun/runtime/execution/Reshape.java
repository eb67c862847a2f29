// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Shape;
import java.util.List;

/** Maps dimensions of one form of a tensor to another by their n-th variable ones, without the batch. Immutable. */
final class Reshape {
    private final long[] from;
    private final long[] to;

    /** From {@code from} to {@code to}, which have equally many variable dimensions. */
    Reshape(List<Long> from, List<Long> to) {
        this.from = toArray(from);
        this.to = toArray(to);
    }

    private static long[] toArray(List<Long> dims) {
        return dims.stream().mapToLong(Long::longValue).toArray();
    }

    boolean isToScalar() {
        return to.length == 0;
    }

    /** The other form of {@code shape}, of which {@code leadingDims} (1 with a batch, else 0) stay as they are. */
    Shape apply(Shape shape, int leadingDims) {
        long[] dims = new long[leadingDims + to.length];
        for (int i = 0; i < leadingDims; i++) {
            dims[i] = shape.dim(i);
        }
        int source = 0;
        for (int i = 0; i < to.length; i++) {
            if (to[i] != Shape.VARIABLE) {
                dims[leadingDims + i] = to[i];
                continue;
            }
            while (from[source] != Shape.VARIABLE) {
                source++;
            }
            dims[leadingDims + i] = shape.dim(leadingDims + source);
            source++;
        }
        return Shape.of(dims);
    }
}
