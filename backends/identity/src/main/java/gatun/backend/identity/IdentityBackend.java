// SPDX-License-Identifier: Apache-2.0
package gatun.backend.identity;

import gatun.backend.support.TimeParameter;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Answers output n with input n, by the order of the configuration. Needs no file: everything is in the configuration.
 * Takes every datatype. An optional input that a request leaves out is zeros: one where a dimension has no size.
 *
 * <p>Parameter {@code execute_delay_ms} of a model is how long each run takes, {@code creation_delay_sec} how long it
 * takes to load the model; {@code enable_custom_tracing}, {@code nested_span_count} and
 * {@code single_activity_frequency} are what it notes in traces ({@link TracedActivities}). All of them are as Triton's
 * backend of this name has them, for the same tests.
 */
public final class IdentityBackend implements Backend {
    private static final String EXECUTE_DELAY = "execute_delay_ms";
    private static final String CREATION_DELAY = "creation_delay_sec";

    /** For {@link java.util.ServiceLoader}. */
    public IdentityBackend() {}

    @Override
    public String name() {
        return "identity";
    }

    /** It has no files. */
    @Override
    public boolean takesUploads() {
        return true;
    }

    @Override
    public Set<String> requestParameters() {
        Set<String> names = new HashSet<>(TracedActivities.PARAMETERS);
        names.addAll(Set.of(EXECUTE_DELAY, CREATION_DELAY));
        return names;
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        if (config.getInputCount() != config.getOutputCount()) {
            throw new ConfigurationException(
                    ConfigurationPath.of("output"),
                    "model '" + config.getName() + "' has " + config.getInputCount()
                            + " inputs and " + config.getOutputCount()
                            + " outputs; the identity backend needs as many outputs as inputs");
        }
        Duration executing = TimeParameter.of(config, EXECUTE_DELAY, TimeUnit.MILLISECONDS);
        Duration loading = TimeParameter.of(config, CREATION_DELAY, TimeUnit.SECONDS);
        Map<String, ModelInput> inputOfOutput = new HashMap<>();
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
            inputOfOutput.put(output.getName(), input);
        }
        sleep(loading);
        boolean ragged = config.getInputList().stream().anyMatch(ModelInput::getAllowRaggedBatch);
        return new IdentityModel(
                inputOfOutput, config.getMaxBatchSize() > 0, executing, ragged, TracedActivities.of(config));
    }

    private static void sleep(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new GatunException(ErrorCode.CANCELLED, "the load was interrupted while it waited", e);
        }
    }
}
