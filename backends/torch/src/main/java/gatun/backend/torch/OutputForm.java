// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import java.lang.foreign.MemorySegment;

/** An output of an instance, with its shape in the run before, which it mostly keeps. For one thread at a time. */
final class OutputForm {
    private final String name;
    private final int position;
    private final Datatype datatype;
    private Shape shape = Shape.of();
    private long byteSize;

    /** Whether there was a run before. Compiled code decides how many dimensions there are, and of which datatype. */
    private boolean isKnown;

    /** An output that no run has given yet, with its configured datatype. */
    OutputForm(String name, int position, Datatype datatype) {
        this.name = name;
        this.position = position;
        this.datatype = datatype;
    }

    int position() {
        return position;
    }

    Datatype datatype() {
        return datatype;
    }

    Shape shape() {
        return shape;
    }

    long byteSize() {
        return byteSize;
    }

    /** Reads the shape of a run's output. Throws INTERNAL when its datatype is not the configured one. */
    void look(AtenTensors tensors, MemorySegment tensor) {
        if (isKnown && tensors.hasDimensions(tensor, shape)) {
            return;
        }
        if (!isKnown) {
            check(tensors.datatype(tensor));
        }
        shape = tensors.shape(tensor);
        byteSize = shape.byteSize(datatype);
        isKnown = true;
    }

    private void check(Datatype actual) {
        if (actual != datatype) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "output '" + name + "' of the model is "
                            + (actual == Datatype.INVALID ? "of a type that no protocol can carry" : actual)
                            + ", its configuration says " + datatype + "; correct data_type there");
        }
    }
}
