// SPDX-License-Identifier: Apache-2.0
package gatun.backend.builtin;

import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.spi.InstanceSpec;
import gatun.spi.MemoryUse;
import gatun.spi.ParameterValue;
import gatun.spi.StopSignal;
import gatun.spi.model.TimeParameter;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
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

    /** A model that answers with its inputs, after {@code delay} where the request does not say. */
    record DelayModel(Map<String, String> inputOfOutput, Duration delay) implements BackendModel {
        DelayModel {
            inputOfOutput = Map.copyOf(inputOfOutput);
        }

        /** The runtime moves the bytes, without a look at them. */
        @Override
        public MemoryUse inputMemory(String input) {
            return MemoryUse.IN_PLACE;
        }

        @Override
        public MemoryUse outputMemory(String output) {
            return MemoryUse.IN_PLACE;
        }

        @Override
        public BackendInstance newInstance(InstanceSpec spec) {
            return new DelayInstance(this);
        }

        /** Waits, then answers with the inputs. */
        static final class DelayInstance implements BackendInstance {
            private final DelayModel model;
            private final StopSignal signal = new StopSignal();

            DelayInstance(DelayModel model) {
                this.model = model;
            }

            @Override
            public void execute(Execution execution) {
                signal.begin(execution);
                Duration delay = delay(execution);
                execution.inferStarted();
                signal.await(delay);
                for (int i = 0; i < execution.outputCount(); i++) {
                    int input = indexOf(execution, execution.outputName(i));
                    execution.outputFromInput(
                            i, input, execution.inputSpec(input).shape());
                }
                execution.inferEnded();
            }

            private Duration delay(Execution execution) {
                Duration longest = execution.requests().isEmpty() ? model.delay() : Duration.ZERO;
                for (ExecutionRequest request : execution.requests()) {
                    ParameterValue wish = request.parameters().get(DelayBackend.PARAMETER);
                    Duration own =
                            switch (wish) {
                                case null -> model.delay();
                                case ParameterValue.Int64 millis ->
                                    TimeParameter.of(DelayBackend.PARAMETER, millis.value(), TimeUnit.MILLISECONDS);
                                default ->
                                    throw GatunException.invalidArgument("parameter '" + DelayBackend.PARAMETER
                                            + "' is " + wish + ", expected an integer");
                            };
                    longest = longest.compareTo(own) < 0 ? own : longest;
                }
                return longest;
            }

            private int indexOf(Execution execution, String output) {
                String name = Objects.requireNonNull(model.inputOfOutput().get(output));
                int input = execution.inputIndex(name);
                if (input >= 0) {
                    return input;
                }
                throw GatunException.invalidArgument(
                        "output '" + output + "' is answered with input '" + name + "', which the request leaves out");
            }

            @Override
            public void stop() {
                signal.stop();
            }
        }
    }
}
