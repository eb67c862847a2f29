// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.spi.model.TimeParameter;
import gatun.wire.inference.ModelConfig;
import gatun.workers.ProcessLimits;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How the processes of a model run, as the parameters of its configuration say it.
 *
 * @param scope what a process is for
 * @param executionLimit how long a run may take before its process is ended; zero for ever
 * @param tensorMemory the most bytes of inputs, and the most of outputs, that a process has at a time
 * @param spinNanos how long each side looks for its turn before it sleeps
 * @param limits what a process may take
 */
record ProcessSettings(Scope scope, Duration executionLimit, long tensorMemory, long spinNanos, ProcessLimits limits) {
    private static final String SCOPE = "isolation_scope";
    private static final String EXECUTION_LIMIT = "execution_timeout_ms";
    private static final String TENSOR_MEMORY = "isolation_tensor_memory";
    private static final String SPIN = "isolation_spin_us";

    private static final long USUAL_TENSOR_MEMORY = 256L << 20;
    private static final long LEAST_TENSOR_MEMORY = 1 << 20;
    private static final long MOST_TENSOR_MEMORY = 1L << 44;
    private static final long MOST_SPIN_MICROS = 1_000_000;

    /** What a process is for. */
    enum Scope {
        INSTANCE,
        MODEL
    }

    static ProcessSettings of(ModelConfig config) {
        return new ProcessSettings(
                scope(config),
                TimeParameter.of(config, EXECUTION_LIMIT, TimeUnit.MILLISECONDS),
                ProcessLimits.number(
                        config, TENSOR_MEMORY, LEAST_TENSOR_MEMORY, MOST_TENSOR_MEMORY, USUAL_TENSOR_MEMORY),
                TimeUnit.MICROSECONDS.toNanos(ProcessLimits.number(config, SPIN, 0, MOST_SPIN_MICROS, 0)),
                ProcessLimits.of(config));
    }

    private static Scope scope(ModelConfig config) {
        String text = ProcessLimits.text(config, SCOPE);
        return switch (text) {
            case "", "instance" -> Scope.INSTANCE;
            case "model" -> Scope.MODEL;
            default -> throw ProcessLimits.wrong(SCOPE, text, "instance or model");
        };
    }
}
