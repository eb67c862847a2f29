// SPDX-License-Identifier: Apache-2.0
package gatun.backend.identity;

import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Answers output n with input n, by the order of the configuration. Needs no file: everything is in the configuration.
 * Takes every datatype.
 */
public final class IdentityBackend implements Backend {
    /** For {@link java.util.ServiceLoader}. */
    public IdentityBackend() {}

    @Override
    public String name() {
        return "identity";
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        if (config.getInputCount() == 0 || config.getInputCount() != config.getOutputCount()) {
            throw new ConfigurationException(
                    ConfigurationPath.of("output"),
                    "model '" + config.getName() + "' has " + config.getInputCount()
                            + " inputs and " + config.getOutputCount()
                            + " outputs; the identity backend needs as many outputs as inputs, and at least one");
        }
        Map<String, String> inputOfOutput = new HashMap<>();
        for (int i = 0; i < config.getInputCount(); i++) {
            ModelInput input = config.getInput(i);
            ModelOutput output = config.getOutput(i);
            if (input.getDataType() != output.getDataType()) {
                throw new ConfigurationException(
                        ConfigurationPath.of("output", output.getName()).then("data_type"),
                        "model '" + config.getName() + "': output '" + output.getName()
                                + "' has data_type " + output.getDataType() + " but input '" + input.getName()
                                + "', which it repeats, has " + input.getDataType());
            }
            inputOfOutput.put(output.getName(), input.getName());
        }
        return new IdentityModel(inputOfOutput);
    }
}
