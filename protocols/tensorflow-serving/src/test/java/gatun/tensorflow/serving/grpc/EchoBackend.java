// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.util.stream.IntStream;

/**
 * Answers output n of the configuration with input n. A model with the parameter "fail" cannot be loaded, for the
 * reason that it gives.
 */
final class EchoBackend implements Backend {
    /** For how long somebody waited for the last run when it began. */
    volatile long timeLeftNanos;

    @Override
    public String name() {
        return "echo";
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        if (config.containsParameters("fail")) {
            throw GatunException.invalidArgument(
                    config.getParametersOrThrow("fail").getStringValue());
        }
        return new Echo(this, config);
    }

    private record Echo(EchoBackend backend, ModelConfig config) implements BackendModel, BackendInstance {
        @Override
        public BackendInstance newInstance(InstanceSpec spec) {
            return this;
        }

        @Override
        public void execute(Execution execution) {
            execution.inferStarted();
            backend.timeLeftNanos = execution.timeLeftNanos();
            for (int i = 0; i < execution.outputCount(); i++) {
                String output = execution.outputName(i);
                int place = IntStream.range(0, config.getOutputCount())
                        .filter(index -> config.getOutput(index).getName().equals(output))
                        .findFirst()
                        .orElseThrow();
                String input = config.getInput(place).getName();
                int from = IntStream.range(0, execution.inputCount())
                        .filter(index -> execution.inputSpec(index).name().equals(input))
                        .findFirst()
                        .orElseThrow();
                execution.outputFromInput(i, from, execution.inputSpec(from).shape());
            }
            execution.inferEnded();
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }
}
