// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.runtime.logging.LogSettings;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/** The settings of both logs. {@code access} is empty for none; {@code rotation} is for both. */
public record LoggingSettings(LogSettings log, Optional<AccessLogSettings> access, LogRotation rotation) {
    /** Checks that nothing is missing. */
    public LoggingSettings {
        Objects.requireNonNull(log, "log");
        Objects.requireNonNull(access, "access");
        Objects.requireNonNull(rotation, "rotation");
    }

    /** The access log: a line for each request. An empty {@code file} is standard output. */
    public record AccessLogSettings(Optional<Path> file, boolean json) {
        /** Checks that nothing is missing. */
        public AccessLogSettings {
            Objects.requireNonNull(file, "file");
        }
    }

    /** A log file of {@code byteSize} bytes, 0 for never, is put aside. {@code files}, at least 1, are kept. */
    public record LogRotation(long byteSize, int files) {
        /** Files grow until somebody else moves them away. */
        public static final LogRotation NONE = new LogRotation(0, 5);
    }
}
