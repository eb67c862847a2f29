// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.util.function.UnaryOperator;

/** The log of a running server. Safe for any thread. */
public interface LogControl {
    /** The present settings. */
    LogSettings settings();

    /** Changes all but the log's file from the next line on; {@code change} may be asked more than once. */
    void change(UnaryOperator<LogSettings> change);

    /** A log that cannot be changed from here, which shows the standard settings. */
    static LogControl fixed() {
        return FixedLog.INSTANCE;
    }

    /** The refusal of a client that wants the log in another file. */
    static GatunException fileIsFixed() {
        return new GatunException(
                ErrorCode.UNSUPPORTED, "log file location can not be updated through network protocol");
    }
}
