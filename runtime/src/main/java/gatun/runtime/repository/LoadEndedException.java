// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;

/** A load was ended before it was over: by its time limit, by an unload, or since the server stops. */
final class LoadEndedException extends GatunException {
    private static final long serialVersionUID = 1;

    LoadEndedException(String message) {
        super(ErrorCode.UNAVAILABLE, message);
    }
}
