// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import java.util.List;

/**
 * What an input of a model must be.
 *
 * @param datatype of its elements; INVALID for a type that no protocol can carry
 * @param extents how long each dimension is
 * @param isChanged whether the model writes to it
 */
record InputForm(Datatype datatype, List<Extent> extents, boolean isChanged) {
    InputForm {
        extents = List.copyOf(extents);
    }

    /** The shape, with what is not fixed as variable. */
    Shape shape() {
        return Shape.of(extents.stream()
                .mapToLong(extent -> extent.isFixed() ? extent.least() : Shape.VARIABLE)
                .toArray());
    }
}
