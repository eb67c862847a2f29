// SPDX-License-Identifier: Apache-2.0
package gatun.bench.data;

import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/** Settles open dimensions. {@code given} are the user's shapes, with the batch's dimension or without. */
public record InputShapes(Map<String, Shape> given, long batch) {
    /** The shape as far as it is given. Throws {@link DataException} when the given one does not match. */
    public Shape of(ModelDescription model, TensorSpec input) {
        Shape declared = input.shape();
        boolean hasBatch = model.batched() && declared.rank() > 0 && declared.dim(0) == Shape.VARIABLE;
        Shape written = given.get(input.name());
        if (written == null) {
            return hasBatch ? declared.withFirst(batch) : declared;
        }
        Shape asked = hasBatch && written.rank() == declared.rank() - 1 ? written.prepend(batch) : written;
        if (!declared.accepts(asked)) {
            throw new DataException("--shape=" + input.name() + ":" + dims(written, "") + ": model '"
                    + model.name() + "' has the input '" + input.name() + "' with the shape " + declared
                    + ": expected as many dimensions, and any size only where it has -1");
        }
        return asked;
    }

    /** The shape, without variable dimensions. Throws {@link DataException} when there is one left. */
    public Shape fixed(ModelDescription model, TensorSpec input) {
        Shape shape = of(model, input);
        if (!shape.isFixed()) {
            throw new DataException("input '" + input.name() + "' of model '" + model.name() + "' has the shape "
                    + input.shape() + ", where -1 is any size: give a size for each, such as --shape=" + input.name()
                    + ":" + dims(shape, "16"));
        }
        return shape;
    }

    /** Throws {@link DataException} for shapes of inputs that the model does not have. */
    public void requireInputsOf(ModelDescription model) {
        for (String name : given.keySet()) {
            if (model.inputs().stream().noneMatch(input -> input.name().equals(name))) {
                throw new DataException("--shape=" + name + ": model '" + model.name() + "' has no input '" + name
                        + "': it has " + names(model));
            }
        }
    }

    static String names(ModelDescription model) {
        return model.inputs().stream().map(TensorSpec::name).collect(Collectors.joining("', '", "'", "'"));
    }

    private static String dims(Shape shape, String variable) {
        return LongStream.of(shape.toArray())
                .mapToObj(dim -> dim == Shape.VARIABLE && !variable.isEmpty() ? variable : Long.toString(dim))
                .collect(Collectors.joining(","));
    }
}
