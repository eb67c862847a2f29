package gatun.grpc.tensorflow;

import com.google.protobuf.ByteString;
import gatun.memory.BytesCodec;
import gatun.memory.Datatype;
import gatun.memory.ElementLayouts;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.protocol.tensorflow.serving.ClassificationResult;
import gatun.protocol.tensorflow.serving.Classifications;
import gatun.runtime.EntryPoint;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Classify: labels and scores of examples, by the conventions of TensorFlow's signatures. */
final class Classifier implements ExampleMethod<ClassificationResult> {
    static final String METHOD = "tensorflow/serving/classify";
    private static final String CLASSES = "classes";
    private static final String SCORES = "scores";

    @Override
    public List<String> outputs(EntryPoint signature) {
        if (signature.inputs().size() != 1) {
            throw GatunException.invalidArgument("Expected one input Tensor.");
        }
        int outputs = signature.outputs().size();
        if (outputs != 1 && outputs != 2) {
            throw GatunException.invalidArgument("Expected one or two output Tensors, found " + outputs);
        }
        if (!SignatureCheck.has(signature.inputs(), INPUTS)) {
            throw GatunException.invalidArgument(
                    "No classification inputs found in SignatureDef: " + SignatureDefs.of(signature));
        }
        List<String> wanted = Stream.of(CLASSES, SCORES)
                .filter(name -> SignatureCheck.has(signature.outputs(), name))
                .toList();
        if (wanted.isEmpty()) {
            throw GatunException.invalidArgument("Expected classification signature outputs to contain at least one of"
                    + " \"classes\" or \"scores\". Signature was: " + SignatureDefs.of(signature));
        }
        return wanted;
    }

    @Override
    public ClassificationResult result(List<Tensor> outputs, int examples) {
        Optional<Tensor> classes = find(outputs, CLASSES, Datatype.BYTES, examples);
        Optional<Tensor> scores = find(outputs, SCORES, Datatype.FP32, examples);
        long count = classes.or(() -> scores).orElseThrow().spec().shape().dim(1);
        if (scores.isPresent() && scores.get().spec().shape().dim(1) != count) {
            throw GatunException.invalidArgument("Tensors class and score should match in dim_size(1). Got " + count
                    + " vs. " + scores.get().spec().shape().dim(1));
        }
        ClassificationResult.Builder result = ClassificationResult.newBuilder();
        long labelAt = 0;
        long scoreAt = 0;
        for (int i = 0; i < examples; i++) {
            Classifications.Builder row = result.addClassificationsBuilder();
            for (long k = 0; k < count; k++) {
                var entry = row.addClassesBuilder();
                if (classes.isPresent()) {
                    MemorySegment bytes = classes.get().bytes();
                    long length = BytesCodec.elementByteSize(bytes, labelAt);
                    MemorySegment label = bytes.asSlice(labelAt + BytesCodec.LENGTH_BYTES, length);
                    entry.setLabelBytes(ByteString.copyFrom(label.asByteBuffer()));
                    labelAt += BytesCodec.LENGTH_BYTES + length;
                }
                if (scores.isPresent()) {
                    entry.setScore(scores.get().bytes().get(ElementLayouts.FP32, scoreAt));
                    scoreAt += Float.BYTES;
                }
            }
        }
        return result.build();
    }

    private static Optional<Tensor> find(List<Tensor> outputs, String name, Datatype datatype, int examples) {
        Optional<Tensor> found = outputs.stream()
                .filter(tensor -> tensor.spec().name().equals(name))
                .findFirst();
        found.ifPresent(tensor -> {
            Shape shape = tensor.spec().shape();
            if (shape.rank() != 2) {
                throw GatunException.invalidArgument(
                        "Expected Tensor shape: [batch_size num_classes] but got " + shape);
            }
            if (tensor.spec().datatype() != datatype) {
                throw GatunException.invalidArgument("Expected " + name + " Tensor of "
                        + TensorTypes.dataType(datatype) + ". Got: "
                        + TensorTypes.dataType(tensor.spec().datatype()));
            }
            if (shape.dim(0) != examples) {
                throw GatunException.invalidArgument(
                        "Expected " + name + " output batch size of " + examples + ". Got: " + shape.dim(0));
            }
        });
        return found;
    }
}
