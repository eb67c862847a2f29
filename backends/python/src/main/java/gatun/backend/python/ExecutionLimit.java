// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.time.Duration;

/** How long a model's {@code execute} may take, by the parameter {@code execution_timeout_ms}. */
final class ExecutionLimit {
    private static final String PARAMETER = "execution_timeout_ms";
    private static final long MOST_MILLIS = Duration.ofDays(1).toMillis();

    private ExecutionLimit() {}

    /** The limit; zero for none. Throws {@link ConfigurationException} for no number of milliseconds. */
    static Duration of(ModelConfig config) {
        if (!config.containsParameters(PARAMETER)) {
            return Duration.ZERO;
        }
        String value = config.getParametersOrThrow(PARAMETER).getStringValue();
        try {
            long millis = Long.parseLong(value.strip());
            if (millis >= 1 && millis <= MOST_MILLIS) {
                return Duration.ofMillis(millis);
            }
        } catch (NumberFormatException e) {
            // Told below, as any other that does not fit.
        }
        throw new ConfigurationException(
                ConfigurationPath.ofParameter(PARAMETER),
                "parameter " + PARAMETER + " of model '" + config.getName() + "' is '" + value + "'",
                "write a number of milliseconds from 1 to " + MOST_MILLIS + ", or leave it out");
    }
}
