// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The classes for examples, each read once in order from outputs in place. Not thread-safe. */
public final class ScoredClasses {
    static final String CLASSES = "classes";
    static final String SCORES = "scores";
    private static final String NO_LABEL = "";

    private final long classCount;
    private final MemorySegment labels;
    /** Whether the labels are names, the same for each example, of which the last is for all classes that have none. */
    private final boolean named;

    private final long nameCount;
    private final boolean scored;
    private final MemorySegment scores;
    private long nextLabel;
    /** Which class of its example the next label is for; counted where there are names. */
    private long nextClass;

    private long nextScore;

    private ScoredClasses(
            long classCount, MemorySegment labels, boolean named, long nameCount, Optional<Tensor> scores) {
        this.classCount = classCount;
        this.labels = labels;
        this.named = named;
        this.nameCount = nameCount;
        this.scored = scores.isPresent();
        this.scores = scores.map(Tensor::bytes).orElse(MemorySegment.NULL);
    }

    /** The classes in a response, which has one tensor at least; {@code names} by index where the model gives none. */
    static ScoredClasses of(Optional<Tensor> classes, Optional<Tensor> scores, List<String> names, long examples) {
        classes.ifPresent(tensor -> check(tensor, CLASSES, Datatype.BYTES, examples));
        scores.ifPresent(tensor -> check(tensor, SCORES, Datatype.FP32, examples));
        long count = classes.or(() -> scores).orElseThrow().spec().shape().dim(1);
        if (scores.isPresent() && scores.get().spec().shape().dim(1) != count) {
            throw GatunException.invalidArgument("Tensors class and score should match in dim_size(1). Got " + count
                    + " vs. " + scores.get().spec().shape().dim(1));
        }
        if (classes.isPresent()) {
            return new ScoredClasses(count, classes.get().bytes(), false, 0, scores);
        }
        List<String> used = names.subList(0, (int) Math.min(names.size(), count));
        return new ScoredClasses(count, encoded(used), true, used.size(), scores);
    }

    /** The names and behind them the label of a class without one: how many classes there are makes no difference. */
    private static MemorySegment encoded(List<String> names) {
        List<String> all = new ArrayList<>(names);
        all.add(NO_LABEL);
        MemorySegment encoded = MemorySegment.ofArray(new byte[(int) BytesCodec.encodedTextByteSize(all)]);
        BytesCodec.encodeText(all, encoded);
        return encoded;
    }

    private static void check(Tensor tensor, String part, Datatype datatype, long examples) {
        Shape shape = tensor.spec().shape();
        if (shape.rank() != 2) {
            throw GatunException.invalidArgument("Expected Tensor shape: [batch_size num_classes] but got " + shape);
        }
        if (tensor.spec().datatype() != datatype) {
            throw GatunException.invalidArgument("Expected " + part + " Tensor of " + DataTypes.of(datatype) + ". Got: "
                    + DataTypes.of(tensor.spec().datatype()));
        }
        if (shape.dim(0) != examples) {
            throw GatunException.invalidArgument(
                    "Expected " + part + " output batch size of " + examples + ". Got: " + shape.dim(0));
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
        if (named && nextClass == classCount) {
            // Names are the same for each example.
            nextClass = 0;
            nextLabel = 0;
        }
        long label = nextLabel;
        if (!named || nextClass < nameCount) {
            nextLabel += BytesCodec.LENGTH_BYTES + BytesCodec.elementByteSize(labels, label);
        }
        nextClass++;
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
