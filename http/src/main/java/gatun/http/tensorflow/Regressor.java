package gatun.http.tensorflow;

import gatun.memory.Datatype;
import gatun.memory.ElementLayouts;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.runtime.EntryPoint;
import gatun.runtime.OutputTensor;
import java.util.List;

/** Regress: one number for each example. */
final class Regressor implements ExampleMethod {
    private static final String OUTPUTS = "outputs";

    @Override
    public void check(EntryPoint signature) {
        if (signature.inputs().size() != 1) {
            throw GatunException.invalidArgument("Expected one input Tensor.");
        }
        if (signature.outputs().size() != 1) {
            throw GatunException.invalidArgument("Expected one output Tensor.");
        }
        if (!ExampleMethod.has(signature.inputs(), INPUTS)) {
            throw GatunException.invalidArgument(
                    "No regression inputs found in SignatureDef: " + SignatureJson.text(signature));
        }
        if (!ExampleMethod.has(signature.outputs(), OUTPUTS)) {
            throw GatunException.invalidArgument(
                    "No regression outputs found in SignatureDef: " + SignatureJson.text(signature));
        }
    }

    @Override
    public void write(IndentedJson json, List<OutputTensor> outputs, long examples) {
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
                    + TypeNames.inMetadata(values.spec().datatype()));
        }
        json.beginObject().name("results").beginArray().oneLineArrays(true);
        for (long at = 0; at < examples * Float.BYTES; at += Float.BYTES) {
            json.fp32(values.bytes().get(ElementLayouts.FP32, at));
        }
        json.oneLineArrays(false).endArray().endObject();
    }
}
