// SPDX-License-Identifier: Apache-2.0
package gatun.protocol.testing;

import gatun.runtime.logging.LogControl;
import gatun.runtime.logging.LogSettings;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/** The settings of a log that nobody writes to. */
final class RememberedLog implements LogControl {
    private final AtomicReference<LogSettings> settings = new AtomicReference<>(LogSettings.standard());

    @Override
    public LogSettings settings() {
        return Objects.requireNonNull(settings.get());
    }

    @Override
    public void change(UnaryOperator<LogSettings> change) {
        settings.updateAndGet(change);
    }
}
