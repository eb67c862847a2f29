// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;

/** The refusal of requests to a server that stops. */
public final class ServerExit {
    private ServerExit() {}

    /** The refusal: UNAVAILABLE. */
    public static GatunException refusal() {
        return new GatunException(ErrorCode.UNAVAILABLE, "Server exiting");
    }
}
