// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.runtime.ModelVersion;
import gatun.spi.EntryTensor;
import gatun.wire.inference.ModelInput;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The inputs that requests may leave out. */
public final class OptionalInputs {
    private OptionalInputs() {}

    /** The names of the {@code inputs} with a default, and of those that the configuration calls optional, sorted. */
    public static Set<String> of(ModelVersion model, List<EntryTensor> inputs) {
        return Stream.concat(
                        model.config().getInputList().stream()
                                .filter(ModelInput::getOptional)
                                .map(ModelInput::getName),
                        inputs.stream().filter(EntryTensor::optional).map(input -> input.spec()
                                .name()))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
