// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.util.function.UnaryOperator;

/** The log of a server within another program: clients cannot change it. */
final class FixedLog implements LogControl {
    static final FixedLog INSTANCE = new FixedLog();

    private FixedLog() {}

    @Override
    public LogSettings settings() {
        return LogSettings.standard();
    }

    @Override
    public void change(UnaryOperator<LogSettings> change) {
        throw new GatunException(
                ErrorCode.UNSUPPORTED, "the log belongs to the program that this server runs in; change it there");
    }
}
