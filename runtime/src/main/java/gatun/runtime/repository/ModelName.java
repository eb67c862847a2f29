// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;

/** Checks names of models, which must stay inside the repository when they become paths. */
final class ModelName {
    private ModelName() {}

    /** @throws GatunException INVALID_ARGUMENT for a name that is empty, climbs, or names anything but one directory */
    static void check(String name) {
        if (name.isBlank()) {
            throw GatunException.invalidArgument("Model name cannot be empty. Please enter a valid name to deploy.");
        }
        String word = name.strip();
        if (word.equals(".") || word.equals("..") || name.indexOf('/') >= 0 || name.indexOf('\0') >= 0) {
            throw GatunException.invalidArgument("invalid model name '" + name.replace('\0', '?')
                    + "', model name must not contain path traversal characters");
        }
    }
}
