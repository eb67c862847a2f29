package gatun.tensorflow.serving;

import gatun.memory.BytesCodec;
import gatun.memory.Datatype;
import gatun.memory.ElementLayouts;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.runtime.OutputTensor;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * What a model made of examples as classes, read from the first example's first class to the last one's last; each is read once. Reads the
 * outputs where they lie, and is valid as long as they are. For one thread.
 */
public final class ScoredClasses {
    static final String CLASSES = "classes";
    static final String SCORES = "scores";

    /** A label where the model has none. */
    private static final MemorySegment NO_LABEL =
            MemorySegment.ofArray(new byte[BytesCodec.LENGTH_BYTES]).asReadOnly();

    private final long classCount;
    private final boolean labelled;
    private final MemorySegment labels;
    private final boolean scored;
    private final MemorySegment scores;
    private long nextLabel;
    private long nextScore;

    private ScoredClasses(long classCount, Optional<Tensor> classes, Optional<Tensor> scores) {
        this.classCount = classCount;
        this.labelled = classes.isPresent();
        this.labels = classes.map(Tensor::bytes).orElse(NO_LABEL);
        this.scored = scores.isPresent();
        this.scores = scores.map(Tensor::bytes).orElse(MemorySegment.NULL);
    }

    /**
     * The classes in {@code outputs}, which {@link ExampleMethod#outputs} named.
     *
     * @param examples how many examples were given
     * @throws GatunException INVALID_ARGUMENT when the outputs are not as they should be
     */
    public static ScoredClasses of(List<OutputTensor> outputs, long examples) {
        Optional<Tensor> classes = find(outputs, CLASSES, Datatype.BYTES, examples);
        Optional<Tensor> scores = find(outputs, SCORES, Datatype.FP32, examples);
        long count = classes.or(() -> scores).orElseThrow().spec().shape().dim(1);
        if (scores.isPresent() && scores.get().spec().shape().dim(1) != count) {
            throw GatunException.invalidArgument("Tensors class and score should match in dim_size(1). Got " + count
                    + " vs. " + scores.get().spec().shape().dim(1));
        }
        return new ScoredClasses(count, classes, scores);
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
            throw GatunException.invalidArgument("Expected " + name + " Tensor of " + DataTypes.of(datatype) + ". Got: "
                    + DataTypes.of(tensor.spec().datatype()));
        }
        if (shape.dim(0) != examples) {
            throw GatunException.invalidArgument(
                    "Expected " + name + " output batch size of " + examples + ". Got: " + shape.dim(0));
        }
    }

    /** How many classes each example has. */
    public long classCount() {
        return classCount;
    }

    /** Where labels lie, each as an element of a BYTES tensor. */
    public MemorySegment labels() {
        return labels;
    }

    /** Where in {@link #labels} the next class's begins; an empty one where the model has no labels. */
    public long nextLabel() {
        long label = nextLabel;
        if (labelled) {
            nextLabel += BytesCodec.LENGTH_BYTES + BytesCodec.elementByteSize(labels, label);
        }
        return label;
    }

    /** The score of the next class; zero where the model has no scores. */
    public float nextScore() {
        if (!scored) {
            return 0;
        }
        float score = scores.get(ElementLayouts.FP32, nextScore);
        nextScore += Float.BYTES;
        return score;
    }
}
