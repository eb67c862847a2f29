// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;

/** Fails configurations that break a rule, in the words that Triton has for it. */
final class Rule {
    private Rule() {}

    /** @throws ConfigurationException when the rule does not hold */
    static void require(boolean holds, ModelConfig config, ConfigurationPath path, String otherwise) {
        require(holds, config, path, otherwise, "");
    }

    /** @throws ConfigurationException when the rule does not hold */
    static void require(boolean holds, ModelConfig config, ConfigurationPath path, String otherwise, String advice) {
        if (!holds) {
            throw broken(config, path, otherwise, advice);
        }
    }

    static ConfigurationException broken(ModelConfig config, ConfigurationPath path, String otherwise, String advice) {
        return new ConfigurationException(path, otherwise + " for " + config.getName(), advice);
    }
}
