package gatun.tensorflow.serving;

import gatun.memory.Datatype;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.runtime.OutputTensor;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** What a model made of examples as numbers. */
public final class RegressedValues {
    static final String OUTPUTS = "outputs";

    private RegressedValues() {}

    /**
     * One FP32 element for each example, where the output lies.
     *
     * @param outputs the one that {@link ExampleMethod#outputs} named
     * @param examples how many examples were given
     * @throws GatunException INVALID_ARGUMENT when the output is not as it should be
     */
    public static MemorySegment of(List<OutputTensor> outputs, long examples) {
        Tensor values = outputs.getFirst().tensor();
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
