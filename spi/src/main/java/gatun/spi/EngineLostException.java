// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;

/**
 * The failure of a run whose engine did not survive it: its process has crashed, was ended at a limit, or cannot be
 * believed any more. Unlike an error of the model, it tells nothing of the requests, which are not run again.
 */
public class EngineLostException extends GatunException {
    private static final long serialVersionUID = 1;

    /** @param message what happened to the engine */
    public EngineLostException(String message) {
        super(ErrorCode.INTERNAL, message);
    }

    /** The same, found by {@code cause}. */
    public EngineLostException(String message, Throwable cause) {
        super(ErrorCode.INTERNAL, message, cause);
    }
}
