package gatun.grpc.tensorflow;

import com.google.protobuf.ByteString;
import gatun.memory.BytesCodec;
import gatun.memory.ElementLayouts;
import gatun.protocol.tensorflow.serving.ClassificationResult;
import gatun.protocol.tensorflow.serving.Classifications;
import gatun.protocol.tensorflow.serving.RegressionResult;
import gatun.runtime.OutputTensor;
import gatun.tensorflow.serving.ExampleSignature;
import gatun.tensorflow.serving.ScoredClasses;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** What was made of examples, as messages. */
final class ExampleResults {
    private ExampleResults() {}

    /**
     * Labels and scores.
     *
     * @param examples how many examples were given
     * @throws gatun.memory.GatunException INVALID_ARGUMENT when the outputs are not as they should be
     */
    static ClassificationResult classification(ExampleSignature signature, List<OutputTensor> outputs, int examples) {
        ScoredClasses classes = signature.classes(outputs, examples);
        MemorySegment labels = classes.labels();
        ClassificationResult.Builder result = ClassificationResult.newBuilder();
        for (int i = 0; i < examples; i++) {
            Classifications.Builder row = result.addClassificationsBuilder();
            for (long k = 0; k < classes.classCount(); k++) {
                long label = classes.nextLabel();
                MemorySegment text =
                        labels.asSlice(label + BytesCodec.LENGTH_BYTES, BytesCodec.elementByteSize(labels, label));
                row.addClassesBuilder()
                        .setLabelBytes(ByteString.copyFrom(text.asByteBuffer()))
                        .setScore(classes.nextScore());
            }
        }
        return result.build();
    }

    /** Numbers; as {@link #classification}. */
    static RegressionResult regression(ExampleSignature signature, List<OutputTensor> outputs, int examples) {
        MemorySegment values = signature.values(outputs, examples);
        RegressionResult.Builder result = RegressionResult.newBuilder();
        for (int i = 0; i < examples; i++) {
            result.addRegressionsBuilder().setValue(values.getAtIndex(ElementLayouts.FP32, i));
        }
        return result.build();
    }
}
