// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.fuzz.FuzzInput;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * The JSON of configurations that come with requests to load a model: read, checked, and completed as far as no backend
 * is needed.
 */
public final class ConfigurationFuzz {
    private static final String MODEL = "m";

    private ConfigurationFuzz() {}

    /** Reads the input as a configuration. */
    public static void fuzzerTestOneInput(byte[] input) {
        FuzzInput.run(input, () -> {
            try {
                ModelConfig written = ModelConfiguration.written(MODEL, new String(input, StandardCharsets.UTF_8));
                complete(written);
            } catch (GatunException e) {
                FuzzInput.require(!e.getMessage().isEmpty(), "a refusal says why");
            }
        });
    }

    /** Completes a configuration as a server without backends does, which accepts ensembles only. */
    private static void complete(ModelConfig written) {
        FuzzInput.requireEqual(written.getName(), MODEL, "the model's name");
        ModelConfig completed = ModelConfiguration.complete(
                new EngineCatalog(List.of()),
                written,
                Optional.empty(),
                false,
                backend -> {
                    throw GatunException.invalidArgument("there is no backend");
                },
                Optional.empty());
        FuzzInput.requireEqual(completed.getName(), MODEL, "the completed model's name");
    }
}
