// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;

/**
 * A model version takes no more requests: it was unloaded, or another took its place between a request's look-up and
 * its beginning. Whoever looks the model up again may find the other.
 */
public final class VersionRetiredException extends GatunException {
    private static final long serialVersionUID = 1;

    /** With the text of the reference. */
    public VersionRetiredException() {
        super(
                ErrorCode.UNAVAILABLE,
                "Server is stopping, scheduler for model has stopped accepting new inference requests");
    }
}
