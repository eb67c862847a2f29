// SPDX-License-Identifier: Apache-2.0
package gatun.backend.builtin;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Datatypes;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.spi.InstanceSpec;
import gatun.spi.MemoryUse;
import gatun.spi.StopSignal;
import gatun.spi.model.TimeParameter;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Answers output n with input n, by the order of the configuration, of every datatype. Needs no file. An optional input
 * that a request leaves out is zeros: one where a dimension has no size. The parameters are those of Triton's backend
 * of this name: {@code execute_delay_ms} for each run, {@code creation_delay_sec} for the load, and what it notes in
 * traces ({@link TracedActivities}).
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

    /** A model whose outputs repeat its inputs, after {@code delay}; {@code ragged} if shapes in a batch may differ. */
    record IdentityModel(
            Map<String, ModelInput> inputOfOutput,
            boolean batching,
            Duration delay,
            boolean ragged,
            TracedActivities activities)
            implements BackendModel {
        IdentityModel {
            inputOfOutput = Map.copyOf(inputOfOutput);
        }

        @Override
        public boolean takesRequestsApart() {
            return ragged;
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
            return new IdentityInstance(this);
        }

        /** Repeats inputs, after a while where the model says so. */
        static final class IdentityInstance implements BackendInstance {
            private final IdentityModel model;
            private final StopSignal signal = new StopSignal();

            IdentityInstance(IdentityModel model) {
                this.model = model;
            }

            @Override
            public boolean isBoundToThread() {
                return false;
            }

            @Override
            public void execute(Execution execution) {
                begin(execution);
                model.activities().tell(execution);
                pass(execution);
                repeat(execution);
                execution.inferEnded();
            }

            @Override
            public void executeApart(List<? extends Execution> executions) {
                Execution first = executions.getFirst();
                begin(first);
                executions.forEach(model.activities()::tell);
                pass(first);
                executions.forEach(this::repeat);
                first.inferEnded();
            }

            private void begin(Execution execution) {
                if (!model.delay().isZero()) {
                    signal.begin(execution);
                }
            }

            private void pass(Execution execution) {
                execution.inferStarted();
                if (!model.delay().isZero()) {
                    signal.await(model.delay());
                }
            }

            private void repeat(Execution execution) {
                for (int i = 0; i < execution.outputCount(); i++) {
                    ModelInput repeated = input(execution.outputName(i));
                    int input = execution.inputIndex(repeated.getName());
                    if (input >= 0) {
                        execution.outputFromInput(
                                i, input, execution.inputSpec(input).shape());
                    } else {
                        fillWithZeros(execution, i, repeated);
                    }
                }
            }

            private ModelInput input(String output) {
                ModelInput input = model.inputOfOutput().get(output);
                if (input == null) {
                    throw GatunException.invalidArgument("model has no output '" + output + "'");
                }
                return input;
            }

            /** For an optional input that is left out; an empty string is four bytes of zeros too. */
            private void fillWithZeros(Execution execution, int output, ModelInput input) {
                Datatype datatype = Datatypes.of(input.getDataType());
                Shape shape = Shape.of(input.getDimsList().stream()
                        .mapToLong(dim -> Math.max(dim, 1))
                        .toArray());
                if (model.batching()) {
                    shape = shape.prepend(
                            execution.inputCount() == 0
                                    ? 1
                                    : execution.inputSpec(0).shape().dim(0));
                }
                long byteSize =
                        datatype == Datatype.BYTES ? shape.elementCount() * Integer.BYTES : shape.byteSize(datatype);
                execution.output(output, datatype, shape, byteSize).fill((byte) 0);
            }

            @Override
            public void stop() {
                signal.stop();
            }
        }
    }

    /** What a model notes in its requests' traces, in order, by names that tests of Triton look for; may be nothing. */
    record TracedActivities(List<String> names) {
        private static final String ENABLED = "enable_custom_tracing";
        private static final String NESTED = "nested_span_count";
        private static final String FREQUENCY = "single_activity_frequency";
        static final Set<String> PARAMETERS = Set.of(ENABLED, NESTED, FREQUENCY);
        private static final int MOST_NESTED = 1000;
        private static final String SINGLE = "CUSTOM_SINGLE_ACTIVITY";
        private static final String SPAN = "CUSTOM_ACTIVITY";

        /** Reads a model's parameters. Throws {@link ConfigurationException} for no number, or one out of bounds. */
        static TracedActivities of(ModelConfig config) {
            if (!"true".equals(text(config, ENABLED, "false"))) {
                return new TracedActivities(List.of());
            }
            int nested = number(config, NESTED, 0, 0);
            int frequency = number(config, FREQUENCY, 1, 1);
            List<String> names = new ArrayList<>(List.of(SINGLE, SPAN + "_START", SPAN + "_END"));
            for (int i = 0; i < nested; i++) {
                names.add(SPAN + i + "_START");
                if (i % frequency == 0) {
                    names.add(SINGLE);
                }
            }
            for (int i = nested - 1; i >= 0; i--) {
                names.add(SPAN + i + "_END");
            }
            return new TracedActivities(List.copyOf(names));
        }

        private static int number(ModelConfig config, String parameter, int least, int otherwise) {
            String text = text(config, parameter, Integer.toString(otherwise));
            try {
                int number = Integer.parseInt(text);
                if (number >= least && number <= MOST_NESTED) {
                    return number;
                }
            } catch (NumberFormatException e) {
                throw wrong(parameter, text, least);
            }
            throw wrong(parameter, text, least);
        }

        private static ConfigurationException wrong(String parameter, String text, int least) {
            return new ConfigurationException(
                    ConfigurationPath.ofParameter(parameter),
                    "parameter '" + parameter + "' is '" + text + "', expected a number from " + least + " to "
                            + MOST_NESTED);
        }

        private static String text(ModelConfig config, String parameter, String otherwise) {
            return config.containsParameters(parameter)
                    ? config.getParametersOrThrow(parameter).getStringValue()
                    : otherwise;
        }

        void tell(Execution execution) {
            if (names.isEmpty()) {
                return;
            }
            for (ExecutionRequest request : execution.requests()) {
                names.forEach(request::traceActivity);
            }
        }
    }
}
