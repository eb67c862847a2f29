// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.util.function.UnaryOperator;

/** The log of a running server. Safe for any thread. */
public interface LogControl {
    /** The present settings. */
    LogSettings settings();

    /**
     * Changes the settings, from the next line on. The file that the log is written to cannot be changed.
     *
     * @param change the new settings, made of the present ones; may be asked more than once
     */
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
