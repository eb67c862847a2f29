// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.runtime.ModelVersion;
import gatun.wire.inference.ModelInput;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The inputs that requests may leave out. */
public final class OptionalInputs {
    private OptionalInputs() {}

    /** The names of those that the configuration of {@code model} calls optional, sorted. */
    public static Set<String> of(ModelVersion model) {
        return model.config().getInputList().stream()
                .filter(ModelInput::getOptional)
                .map(ModelInput::getName)
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
