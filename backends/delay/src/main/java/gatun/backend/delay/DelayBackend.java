// SPDX-License-Identifier: Apache-2.0
package gatun.backend.delay;

import gatun.backend.support.TimeParameter;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Answers output n with input n, by the order of the configuration, after a time: that of the configuration's parameter
 * {@code execute_delay_ms}, or of the request's parameter of that name. A batch takes as long as the slowest of its
 * requests. A run that nobody wants any more ends at once.
 */
public final class DelayBackend implements Backend {
    static final String PARAMETER = "execute_delay_ms";

    /** For {@link java.util.ServiceLoader}. */
    public DelayBackend() {}

    @Override
    public String name() {
        return "delay";
    }

    /** It has no files. */
    @Override
    public boolean takesUploads() {
        return true;
    }

    @Override
    public Set<String> requestParameters() {
        return Set.of(PARAMETER);
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        String model = config.getName();
        if (config.getInputCount() == 0 || config.getInputCount() != config.getOutputCount()) {
            throw new ConfigurationException(
                    ConfigurationPath.of("output"),
                    "model '" + model + "' has " + config.getInputCount() + " inputs and " + config.getOutputCount()
                            + " outputs; the delay backend needs as many outputs as inputs, and at least one");
        }
        Map<String, String> inputOfOutput = new HashMap<>();
        for (int i = 0; i < config.getInputCount(); i++) {
            if (config.getInput(i).getDataType() != config.getOutput(i).getDataType()) {
                throw new ConfigurationException(
                        ConfigurationPath.of("output", i).then("data_type"),
                        "model '" + model + "': output '"
                                + config.getOutput(i).getName() + "' has data_type "
                                + config.getOutput(i).getDataType() + ", expected "
                                + config.getInput(i).getDataType() + " as input '"
                                + config.getInput(i).getName() + "', with which it is answered");
            }
            inputOfOutput.put(config.getOutput(i).getName(), config.getInput(i).getName());
        }
        return new DelayModel(inputOfOutput, TimeParameter.of(config, PARAMETER, TimeUnit.MILLISECONDS));
    }
}
