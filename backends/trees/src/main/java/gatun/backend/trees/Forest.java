// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.memory.tensor.Shape;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** A forest that a library has loaded. Safe for any thread; closed once, after its last predictor. */
interface Forest extends AutoCloseable {
    int features();

    /** How many numbers a row has. Throws {@link gatun.memory.tensor.GatunException} when the forest cannot tell it. */
    int columns(Quantity quantity);

    /** Makes a predictor for one thread at a time. {@code isOnly} says whether no other will ask beside it. */
    Predictor newPredictor(boolean isOnly);

    @Override
    void close();

    /** An output, with the dimensions of one row; none for a single number. */
    record ForestOutput(Quantity quantity, OutputForm form, Shape dims) {
        /** An output with a row's configured dimensions, without those of size 1, as in Triton's FIL backend. */
        static ForestOutput of(Quantity quantity, OutputForm form, Shape configured) {
            long[] dims =
                    Arrays.stream(configured.toArray()).filter(dim -> dim != 1).toArray();
            return new ForestOutput(quantity, form, Shape.of(dims));
        }

        Shape shape(long rows) {
            return dims.prepend(rows);
        }

        long rowByteSize() {
            return (long) form.width() * form.datatype().byteSize();
        }
    }

    /** What can be asked of a forest, each an output of its own. */
    enum Quantity {
        VALUE("output__0"),
        /** SHAP values: the contribution of each feature to the prediction before its transformation, then the rest. */
        CONTRIBUTIONS("treeshap_output"),
        /** The number of the leaf that each tree ends in. */
        LEAVES("leaf_output");

        private final String output;

        Quantity(String output) {
            this.output = output;
        }

        String output() {
            return output;
        }

        static Optional<Quantity> ofOutput(String name) {
            return Arrays.stream(values())
                    .filter(quantity -> quantity.output.equals(name))
                    .findFirst();
        }

        static String outputs() {
            return Arrays.stream(values()).map(Quantity::output).collect(Collectors.joining(", "));
        }
    }
}
