// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.runtime.logging.LogSettings;
import java.util.Objects;
import java.util.Optional;

/**
 * Everything that is written about what the server does.
 *
 * @param log the log
 * @param access the access log; empty for none
 * @param rotation when files of both are begun anew
 */
public record LoggingSettings(LogSettings log, Optional<AccessLogSettings> access, LogRotation rotation) {
    /** Checks that nothing is missing. */
    public LoggingSettings {
        Objects.requireNonNull(log, "log");
        Objects.requireNonNull(access, "access");
        Objects.requireNonNull(rotation, "rotation");
    }
}
