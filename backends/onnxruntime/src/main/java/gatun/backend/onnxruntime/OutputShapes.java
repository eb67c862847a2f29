// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.ModelDescription.TensorDescription;
import gatun.memory.tensor.Shape;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Output shapes that are known before a run: each dimension is a number, or has the name of an input's. Where a file's
 * names lie, the run fails cleanly and the engine allocates. Used by one thread at a time.
 */
final class OutputShapes {
    /** Where an open dimension's size is found. */
    private record Source(int input, int dim) {}

    /** Where each output's dimensions come from; null in {@link #sources} means unknown beforehand. */
    private final Shape[] fixed;

    private final Source[][] sources;
    private final boolean[] known;

    /** The last shapes that were told, which are mostly right again. */
    private final @Nullable Shape[] last;

    OutputShapes(ModelDescription model) {
        Map<String, Source> symbols = new HashMap<>();
        for (int i = 0; i < model.inputs().size(); i++) {
            List<String> names = model.inputs().get(i).symbols();
            for (int d = 0; d < names.size(); d++) {
                if (!names.get(d).isEmpty()) {
                    symbols.putIfAbsent(names.get(d), new Source(i, d));
                }
            }
        }
        int count = model.outputs().size();
        fixed = new Shape[count];
        sources = new Source[count][];
        known = new boolean[count];
        last = new Shape[count];
        for (int o = 0; o < count; o++) {
            TensorDescription output = model.outputs().get(o);
            fixed[o] = output.shape();
            sources[o] = new Source[output.shape().rank()];
            known[o] = true;
            for (int d = 0; d < sources[o].length; d++) {
                if (output.shape().dim(d) == Shape.VARIABLE) {
                    Source source = symbols.get(output.symbols().get(d));
                    sources[o][d] = source;
                    known[o] &= source != null;
                }
            }
        }
    }

    /** Whether the shape of output {@code index} follows from the shapes of the inputs. */
    boolean isKnown(int index) {
        return known[index];
    }

    /** The shape of output {@code index}, which must be known, for inputs of these shapes in the model's order. */
    Shape shape(int index, Shape[] inputs) {
        if (fixed[index].isFixed()) {
            return fixed[index];
        }
        Shape before = last[index];
        if (before != null && isStill(before, index, inputs)) {
            return before;
        }
        long[] dims = new long[sources[index].length];
        for (int d = 0; d < dims.length; d++) {
            dims[d] = dim(index, d, inputs);
        }
        Shape shape = Shape.of(dims);
        last[index] = shape;
        return shape;
    }

    private boolean isStill(Shape shape, int index, Shape[] inputs) {
        for (int d = 0; d < shape.rank(); d++) {
            if (shape.dim(d) != dim(index, d, inputs)) {
                return false;
            }
        }
        return true;
    }

    private long dim(int index, int d, Shape[] inputs) {
        Source source = sources[index][d];
        return source == null ? fixed[index].dim(d) : inputs[source.input()].dim(source.dim());
    }

    /** Takes back that output {@code index} is known: a run has shown that the file's names are not true. */
    void forget(int index) {
        known[index] = false;
    }
}
