// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.spi.model.TimeParameter;
import gatun.wire.inference.ModelConfig;
import gatun.workers.ProcessLimits;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How the processes of a model run, by its configuration. A run of more than {@code executionLimit} ends its process;
 * zero is for ever. {@code tensorMemory} is the most bytes of inputs, and of outputs, in a process. Each side looks for
 * its turn for {@code spinNanos} before it sleeps.
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
