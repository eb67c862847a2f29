// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import java.lang.foreign.MemorySegment;

/** The numbers that a model gives for examples. */
final class RegressedValues {
    static final String OUTPUTS = "outputs";

    private RegressedValues() {}

    /** The values of an output, which is to have one for each example. */
    static MemorySegment of(Tensor values, long examples) {
        Shape shape = values.spec().shape();
        if (shape.rank() != 1 && (shape.rank() != 2 || shape.dim(1) != 1)) {
            throw GatunException.invalidArgument(
                    "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got " + shape);
        }
        if (shape.dim(0) != examples) {
            throw GatunException.invalidArgument(
                    "Input batch size did not match output batch size: " + examples + " vs. " + shape.dim(0));
        }
        if (values.spec().datatype() != Datatype.FP32) {
            throw GatunException.invalidArgument("Expected output Tensor of DT_FLOAT.  Got: "
                    + DataTypes.of(values.spec().datatype()));
        }
        return values.bytes();
    }
}
