// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.spi.EngineLostException;

/** A frame that makes no sense. Nothing that the worker says later can be believed: it has to be ended. */
public final class MalformedFrameException extends EngineLostException {
    private static final long serialVersionUID = 1;

    /** @param message what it said */
    public MalformedFrameException(String message) {
        super(message);
    }

    /** The same, found by {@code cause}. */
    public MalformedFrameException(String message, Throwable cause) {
        super(message, cause);
    }
}
