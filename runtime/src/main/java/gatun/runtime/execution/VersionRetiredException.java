// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;

/** The version was unloaded or replaced between look-up and run. A new look-up may find another. */
public final class VersionRetiredException extends GatunException {
    private static final long serialVersionUID = 1;

    /** With the text of the reference. */
    public VersionRetiredException() {
        super(
                ErrorCode.UNAVAILABLE,
                "Server is stopping, scheduler for model has stopped accepting new inference requests");
    }
}
