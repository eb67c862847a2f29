package gatun.http.tensorflow;

import gatun.memory.BytesCodec;
import gatun.memory.Datatype;
import gatun.memory.ElementLayouts;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.runtime.EntryPoint;
import gatun.runtime.OutputTensor;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/** Classify: labels and scores for each example. */
final class Classifier implements ExampleMethod {
    private static final String CLASSES = "classes";
    private static final String SCORES = "scores";

    /** A label where the model has none. */
    private static final MemorySegment NO_LABEL =
            MemorySegment.ofArray(new byte[BytesCodec.LENGTH_BYTES]).asReadOnly();

    @Override
    public void check(EntryPoint signature) {
        if (signature.inputs().size() != 1) {
            throw GatunException.invalidArgument("Expected one input Tensor.");
        }
        int outputs = signature.outputs().size();
        if (outputs != 1 && outputs != 2) {
            throw GatunException.invalidArgument("Expected one or two output Tensors, found " + outputs);
        }
        if (!ExampleMethod.has(signature.inputs(), INPUTS)) {
            throw GatunException.invalidArgument(
                    "No classification inputs found in SignatureDef: " + SignatureJson.text(signature));
        }
        if (!ExampleMethod.has(signature.outputs(), CLASSES) && !ExampleMethod.has(signature.outputs(), SCORES)) {
            throw GatunException.invalidArgument("Expected classification signature outputs to contain at least one of"
                    + " \"classes\" or \"scores\". Signature was: " + SignatureJson.text(signature));
        }
    }

    @Override
    public void write(IndentedJson json, List<OutputTensor> outputs, long examples) {
        Optional<Tensor> classes = find(outputs, CLASSES, Datatype.BYTES, examples);
        Optional<Tensor> scores = find(outputs, SCORES, Datatype.FP32, examples);
        long count = classes.or(() -> scores).orElseThrow().spec().shape().dim(1);
        if (scores.isPresent() && scores.get().spec().shape().dim(1) != count) {
            throw GatunException.invalidArgument("Tensors class and score should match in dim_size(1). Got " + count
                    + " vs. " + scores.get().spec().shape().dim(1));
        }
        MemorySegment labels = classes.map(Tensor::bytes).orElse(NO_LABEL);
        long labelAt = 0;
        long scoreAt = 0;
        json.beginObject().name("results").beginArray().oneLineArrays(true);
        for (long i = 0; i < examples; i++) {
            json.beginArray();
            for (long k = 0; k < count; k++) {
                long length = BytesCodec.elementByteSize(labels, labelAt);
                json.beginArray().string(labels, labelAt + BytesCodec.LENGTH_BYTES, length);
                labelAt += classes.isPresent() ? BytesCodec.LENGTH_BYTES + length : 0;
                json.fp32(scores.isPresent() ? scores.get().bytes().get(ElementLayouts.FP32, scoreAt) : 0);
                scoreAt += Float.BYTES;
                json.endArray();
            }
            json.endArray();
        }
        json.oneLineArrays(false).endArray().endObject();
    }

    private static Optional<Tensor> find(List<OutputTensor> outputs, String name, Datatype datatype, long examples) {
        Optional<Tensor> found = outputs.stream()
                .map(OutputTensor::tensor)
                .filter(tensor -> tensor.spec().name().equals(name))
                .findFirst();
        found.ifPresent(tensor -> check(tensor, datatype, examples));
        return found;
    }

    private static void check(Tensor tensor, Datatype datatype, long examples) {
        String name = tensor.spec().name();
        Shape shape = tensor.spec().shape();
        if (shape.rank() != 2) {
            throw GatunException.invalidArgument("Expected Tensor shape: [batch_size num_classes] but got " + shape);
        }
        if (tensor.spec().datatype() != datatype) {
            throw GatunException.invalidArgument("Expected " + name + " Tensor of " + TypeNames.inMetadata(datatype)
                    + ". Got: " + TypeNames.inMetadata(tensor.spec().datatype()));
        }
        if (shape.dim(0) != examples) {
            throw GatunException.invalidArgument(
                    "Expected " + name + " output batch size of " + examples + ". Got: " + shape.dim(0));
        }
    }
}
