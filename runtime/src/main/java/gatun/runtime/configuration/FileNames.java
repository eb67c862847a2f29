// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;

/**
 * Checks the names of a model's own files in its configuration, which a client may have sent: they stay in the
 * version's folder. Only the text is looked at, so that a refusal says nothing of what is on the server; links are
 * those that the operator has made. Files of labels, warm-ups and initial states are checked where they are read.
 */
public final class FileNames {
    private FileNames() {}

    /** @throws ConfigurationException with the first name that leads out of its folder */
    static void check(ModelConfig config) {
        require("default_model_filename", config.getDefaultModelFilename());
        config.getCcModelFilenamesMap().values().forEach(name -> require("cc_model_filenames", name));
    }

    private static void require(String field, String name) {
        if (!staysInside(name)) {
            throw new ConfigurationException(
                    ConfigurationPath.of(field),
                    "'" + field + "' is '" + name.replace('\0', '?')
                            + "', which may lead out of the model's folder; expected a relative path without '..'");
        }
    }

    /** Whether a name leads to what is below the folder that it is looked up in, links apart. */
    public static boolean staysInside(String name) {
        if (name.startsWith("/") || name.indexOf('\0') >= 0 || name.indexOf('\\') >= 0) {
            return false;
        }
        for (String part : name.split("/", -1)) {
            if (part.equals("..")) {
                return false;
            }
        }
        return true;
    }
}
