// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;

/** A worker has said what makes no sense. Nothing that it says later can be believed: it has to be ended. */
public final class MalformedFrameException extends GatunException {
    private static final long serialVersionUID = 1;

    /** @param message what it said */
    public MalformedFrameException(String message) {
        super(ErrorCode.INTERNAL, message);
    }

    /** The same, found by {@code cause}. */
    public MalformedFrameException(String message, Throwable cause) {
        super(ErrorCode.INTERNAL, message, cause);
    }
}
