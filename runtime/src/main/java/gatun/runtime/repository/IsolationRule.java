// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Isolation;
import gatun.wire.inference.ModelConfig;
import java.util.Optional;
import java.util.Set;

/**
 * Which models run in processes of their own: those of {@code backends}, unless their configuration says otherwise.
 * {@code isolation} makes the engines for them; empty where there can be none.
 */
public record IsolationRule(Optional<Isolation> isolation, Set<String> backends) {
    private static final String PARAMETER = "isolation";

    /** Keeps a copy of the names. */
    public IsolationRule {
        backends = Set.copyOf(backends);
    }

    /** Whether a model of {@code backend} is isolated. Throws ConfigurationException for a wrong parameter. */
    boolean applies(String backend, ModelConfig config) {
        if (!config.containsParameters(PARAMETER)) {
            return backends.contains(backend);
        }
        String value = config.getParametersOrThrow(PARAMETER).getStringValue();
        if (value.equals("none")) {
            return false;
        }
        if (!value.equals("process")) {
            throw wrong("parameter 'isolation' is '" + value + "', expected process or none");
        }
        if (isolation.isEmpty()) {
            throw wrong("parameter 'isolation' is 'process', but this server starts no processes for models");
        }
        return true;
    }

    private static ConfigurationException wrong(String message) {
        return new ConfigurationException(ConfigurationPath.ofParameter(PARAMETER), message);
    }
}
