// SPDX-License-Identifier: Apache-2.0
package gatun.backend.delay;

import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Answers output n with input n, by the order of the configuration, after a time: that of the configuration's parameter
 * {@code execute_delay_ms}, or of the request's parameter of that name. A batch takes as long as the slowest of its
 * requests. A run that nobody wants any more ends at once.
 */
public final class DelayBackend implements Backend {
    static final String PARAMETER = "execute_delay_ms";

    /** A longer one is a slip of the pen, and would keep the server from ending. */
    static final Duration LONGEST = Duration.ofHours(1);

    /** For {@link java.util.ServiceLoader}. */
    public DelayBackend() {}

    @Override
    public String name() {
        return "delay";
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
        return new DelayModel(inputOfOutput, configured(config));
    }

    private static Duration configured(ModelConfig config) {
        if (!config.containsParameters(PARAMETER)) {
            return Duration.ZERO;
        }
        String text = config.getParametersOrThrow(PARAMETER).getStringValue();
        try {
            return milliseconds(Long.parseLong(text));
        } catch (NumberFormatException e) {
            throw new ConfigurationException(
                    ConfigurationPath.ofParameter(PARAMETER),
                    "parameter '" + PARAMETER + "' is '" + text + "', expected milliseconds as a number");
        }
    }

    /** @throws GatunException INVALID_ARGUMENT when that is less than nothing or more than {@link #LONGEST} */
    static Duration milliseconds(long count) {
        if (count < 0 || count > LONGEST.toMillis()) {
            throw new ConfigurationException(
                    ConfigurationPath.ofParameter(PARAMETER),
                    "parameter '" + PARAMETER + "' is " + count + ", expected milliseconds from 0 to "
                            + LONGEST.toMillis());
        }
        return Duration.ofMillis(count);
    }
}
