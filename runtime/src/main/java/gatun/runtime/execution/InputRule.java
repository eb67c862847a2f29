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
    /** Whether it is copied out of a client's memory before the backend sees it. */
    boolean isCopied() {
        return memory.place() == MemoryUse.Place.SERVER;
    }
}
