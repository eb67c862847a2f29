// SPDX-License-Identifier: Apache-2.0
package gatun.it.backends;

import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Answers each step of a sequence with the sum of all elements of its {@code INPUT} so far, in each element of
 * {@code OUTPUT}; both are of INT32 and of the same shape. Each run takes {@code execute_delay_ms}, a parameter of the
 * model.
 */
public final class SequenceBackend implements Backend {
    private static final String DELAY = "execute_delay_ms";

    /** For {@link java.util.ServiceLoader}. */
    public SequenceBackend() {}

    @Override
    public String name() {
        return "sequence";
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        return spec -> new SumInstance(delay(config), config.getMaxBatchSize() > 0, false);
    }

    static Duration delay(ModelConfig config) {
        return config.containsParameters(DELAY)
                ? Duration.ofMillis(
                        Long.parseLong(config.getParametersOrThrow(DELAY).getStringValue()))
                : Duration.ZERO;
    }
}
