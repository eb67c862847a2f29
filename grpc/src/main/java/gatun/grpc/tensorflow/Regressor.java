package gatun.grpc.tensorflow;

import gatun.memory.Datatype;
import gatun.memory.ElementLayouts;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.protocol.tensorflow.serving.RegressionResult;
import gatun.runtime.EntryPoint;
import java.util.List;

/** Regress: one number for each example, by the conventions of TensorFlow's signatures. */
final class Regressor implements ExampleMethod<RegressionResult> {
    static final String METHOD = "tensorflow/serving/regress";
    private static final String OUTPUTS = "outputs";

    @Override
    public List<String> outputs(EntryPoint signature) {
        if (signature.inputs().size() != 1) {
            throw GatunException.invalidArgument("Expected one input Tensor.");
        }
        if (signature.outputs().size() != 1) {
            throw GatunException.invalidArgument("Expected one output Tensor.");
        }
        if (!SignatureCheck.has(signature.inputs(), INPUTS)) {
            throw GatunException.invalidArgument(
                    "No regression inputs found in SignatureDef: " + SignatureDefs.of(signature));
        }
        if (!SignatureCheck.has(signature.outputs(), OUTPUTS)) {
            throw GatunException.invalidArgument(
                    "No regression outputs found in SignatureDef: " + SignatureDefs.of(signature));
        }
        return List.of(OUTPUTS);
    }

    @Override
    public RegressionResult result(List<Tensor> outputs, int examples) {
        Tensor output = outputs.getFirst();
        Shape shape = output.spec().shape();
        if (shape.rank() != 1 && (shape.rank() != 2 || shape.dim(1) != 1)) {
            throw GatunException.invalidArgument(
                    "Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got " + shape);
        }
        if (shape.dim(0) != examples) {
            throw GatunException.invalidArgument(
                    "Input batch size did not match output batch size: " + examples + " vs. " + shape.dim(0));
        }
        if (output.spec().datatype() != Datatype.FP32) {
            throw GatunException.invalidArgument("Expected output Tensor of DT_FLOAT.  Got: "
                    + TensorTypes.dataType(output.spec().datatype()));
        }
        RegressionResult.Builder result = RegressionResult.newBuilder();
        for (int i = 0; i < examples; i++) {
            result.addRegressionsBuilder().setValue(output.bytes().get(ElementLayouts.FP32, (long) i * Float.BYTES));
        }
        return result.build();
    }
}
