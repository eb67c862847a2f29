// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.memory.tensor.Shape;
import java.util.Arrays;

/**
 * An output of a model.
 *
 * @param quantity what is asked of the forest
 * @param form how the output is made of the library's numbers
 * @param dims the dimensions of a row of it; none for a single number
 */
record ForestOutput(Quantity quantity, OutputForm form, Shape dims) {
    /**
     * An output with the dimensions that a configuration gives it for a row. Those of size 1 are not there for clients,
     * as with Triton's FIL backend: one number for each row makes a tensor of one dimension.
     */
    static ForestOutput of(Quantity quantity, OutputForm form, Shape configured) {
        long[] dims =
                Arrays.stream(configured.toArray()).filter(dim -> dim != 1).toArray();
        return new ForestOutput(quantity, form, Shape.of(dims));
    }

    /** The shape for so many rows. */
    Shape shape(long rows) {
        return dims.prepend(rows);
    }

    /** The bytes of a row. */
    long rowByteSize() {
        return (long) form.width() * form.datatype().byteSize();
    }
}
