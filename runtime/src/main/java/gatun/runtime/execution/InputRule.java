// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.spi.MemoryUse;
import org.jspecify.annotations.Nullable;

/**
 * The rule for one input of a request.
 *
 * @param dims the dimensions without the batch dimension
 * @param anyShape whether it may have any shape, whatever {@code dims} says
 * @param optional whether a request may leave it out
 * @param reshape the dimensions that the backend gets instead of the client's; null for the client's
 * @param memory where the backend reads it if it lies in a client's memory
 */
record InputRule(
        String name,
        Datatype datatype,
        Shape dims,
        boolean anyShape,
        boolean optional,
        @Nullable Reshape reshape,
        MemoryUse memory) {
    /**
     * The shape that {@code shape} stands for: a single element may come with the dimensions {@code []} and {@code
     * [1]}, whichever of them the model has. {@code leadingDims} says how many dimensions of {@code shape} come before
     * those of the input: 1 with a batch dimension, else 0.
     */
    Shape ownForm(Shape shape, int leadingDims) {
        int rank = shape.rank() - leadingDims;
        if (rank == dims.rank()) {
            return shape;
        }
        if (dims.rank() == 0 && rank == 1 && shape.dim(leadingDims) == 1) {
            return leadingDims == 0 ? dims : Shape.of(shape.dim(0));
        }
        // With a batch dimension in front, [8] for [8,1] is more likely a mistake unless the model has scalars.
        boolean scalar = leadingDims == 0 || (reshape != null && reshape.isToScalar());
        if (scalar && rank == 0 && dims.rank() == 1 && dims.dim(0) == 1) {
            return leadingDims == 0 ? dims : Shape.of(shape.dim(0), 1);
        }
        return shape;
    }

    /** Whether it is copied out of a client's memory before the backend sees it. */
    boolean isCopied() {
        return memory.place() == MemoryUse.Place.SERVER;
    }
}
