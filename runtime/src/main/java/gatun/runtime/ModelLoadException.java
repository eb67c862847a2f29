// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.util.List;

/** A model could not be loaded, or not every version of it. The message is the protocol's, for all reasons together. */
public final class ModelLoadException extends GatunException {
    private static final long serialVersionUID = 1;

    private final List<GatunException> reasons;

    /** A failure with {@code reasons}: one for each version that could not be loaded, or one for the whole model. */
    public ModelLoadException(ErrorCode code, String message, List<GatunException> reasons) {
        super(code, message);
        this.reasons = List.copyOf(reasons);
    }

    /** The failures that the message tells of. */
    public List<GatunException> reasons() {
        return reasons;
    }
}
