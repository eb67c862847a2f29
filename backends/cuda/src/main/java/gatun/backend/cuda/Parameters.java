// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.memory.tensor.GatunException;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.util.List;
import java.util.Optional;

/** The parameters of a model's configuration, by their keys. Immutable. */
final class Parameters {
    private final ModelConfig config;

    Parameters(ModelConfig config) {
        this.config = config;
    }

    Optional<Parameter> find(String key) {
        return config.containsParameters(key)
                ? Optional.of(new Parameter(
                        config.getName(), key, config.getParametersOrThrow(key).getStringValue()))
                : Optional.empty();
    }

    /** The parameter of that key. Throws INVALID_ARGUMENT when the configuration has none. */
    Parameter require(String key, String expected) {
        return find(key).orElseThrow(() -> new Parameter(config.getName(), key, "")
                .refused("it is missing; expected " + expected));
    }

    /** The parameters whose keys begin with {@code prefix}, in the order of their keys. */
    List<Parameter> startingWith(String prefix) {
        return config.getParametersMap().keySet().stream()
                .filter(key -> key.startsWith(prefix))
                .sorted()
                .map(key -> find(key).orElseThrow())
                .toList();
    }

    /** A parameter of a model's configuration. Immutable. */
    record Parameter(String model, String key, String text) {
        /** To be thrown: the text is wrong at one place. {@code position} says where, from 0; people count from 1. */
        GatunException refused(int position, String found, String expected) {
            return refused(
                    "at position " + (position + 1) + " of \"" + text + "\" found " + found + ", expected " + expected);
        }

        /** To be thrown: the whole text is wrong. */
        GatunException refused(String reason) {
            return new ConfigurationException(
                    ConfigurationPath.ofParameter(key), "model '" + model + "': parameter '" + key + "': " + reason);
        }
    }
}
