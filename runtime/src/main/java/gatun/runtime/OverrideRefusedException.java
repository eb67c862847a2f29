// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;

/**
 * A load request says, or brings, what only the operator may: a program, a library, an environment, a user, a path or a
 * limit. Nothing has changed.
 */
public final class OverrideRefusedException extends GatunException {
    private static final long serialVersionUID = 1;

    /**
     * A refusal.
     *
     * @param model the model that was to be loaded
     * @param reason the field or file, its value, what was expected, and what to do
     */
    public OverrideRefusedException(String model, String reason) {
        super(ErrorCode.INVALID_ARGUMENT, "failed to load '" + model + "': " + reason);
    }
}
