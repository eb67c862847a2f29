// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** What can be asked of a forest, each an output of its own. */
enum Quantity {
    /** The prediction: a number, or one for each class. */
    VALUE("output__0"),
    /** SHAP values: what each feature contributes to the prediction before its transformation, and the rest, last. */
    CONTRIBUTIONS("treeshap_output"),
    /** The number of the leaf that each tree ends in. */
    LEAVES("leaf_output");

    private final String output;

    Quantity(String output) {
        this.output = output;
    }

    /** The name of the output. */
    String output() {
        return output;
    }

    /** What the output of this name gives. */
    static Optional<Quantity> ofOutput(String name) {
        return Arrays.stream(values())
                .filter(quantity -> quantity.output.equals(name))
                .findFirst();
    }

    /** The names of all outputs, for messages. */
    static String outputs() {
        return Arrays.stream(values()).map(Quantity::output).collect(Collectors.joining(", "));
    }
}
