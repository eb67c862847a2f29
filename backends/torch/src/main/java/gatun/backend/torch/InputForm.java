// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import java.util.List;

/** What an input must be; INVALID for a datatype that no protocol can carry. Changed where the model writes to it. */
record InputForm(Datatype datatype, List<Extent> extents, boolean isChanged) {
    InputForm {
        extents = List.copyOf(extents);
    }

    /** The shape, with {@link Shape#VARIABLE} for each length that is not fixed. */
    Shape shape() {
        return Shape.of(extents.stream()
                .mapToLong(extent -> extent.isFixed() ? extent.least() : Shape.VARIABLE)
                .toArray());
    }
}
