// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.memory.tensor.GatunException;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;

/**
 * A parameter of a model's configuration. Immutable.
 *
 * @param model the model's name
 * @param key the parameter's
 * @param text its value
 */
record Parameter(String model, String key, String text) {
    /**
     * To be thrown: the text is wrong at one place.
     *
     * @param position where, from 0; people count from 1
     */
    GatunException refused(int position, String found, String expected) {
        return refused(
                "at position " + (position + 1) + " of \"" + text + "\" found " + found + ", expected " + expected);
    }

    /** To be thrown: the text as a whole is wrong. */
    GatunException refused(String reason) {
        return new ConfigurationException(
                ConfigurationPath.ofParameter(key), "model '" + model + "': parameter '" + key + "': " + reason);
    }
}
