// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.wire.inference.ModelConfig;
import java.util.List;
import java.util.Optional;

/** The parameters of a model's configuration, by their keys. Immutable. */
final class Parameters {
    private final ModelConfig config;

    Parameters(ModelConfig config) {
        this.config = config;
    }

    /** The parameter of that key, if the configuration has it. */
    Optional<Parameter> find(String key) {
        return config.containsParameters(key)
                ? Optional.of(new Parameter(
                        config.getName(), key, config.getParametersOrThrow(key).getStringValue()))
                : Optional.empty();
    }

    /**
     * The parameter of that key.
     *
     * @throws gatun.memory.tensor.GatunException INVALID_ARGUMENT when the configuration has none
     */
    Parameter require(String key, String expected) {
        return find(key).orElseThrow(() -> new Parameter(config.getName(), key, "")
                .refused("it is missing; expected " + expected));
    }

    /** All whose keys begin with {@code prefix}, in the order of their keys. */
    List<Parameter> startingWith(String prefix) {
        return config.getParametersMap().keySet().stream()
                .filter(key -> key.startsWith(prefix))
                .sorted()
                .map(key -> find(key).orElseThrow())
                .toList();
    }
}
