// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.runtime.logging.LogSettings;
import java.nio.file.Path;
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

    /**
     * The access log: a line for each request.
     *
     * @param file the file to append to; empty for standard output
     * @param json whether lines are JSON
     */
    public record AccessLogSettings(Optional<Path> file, boolean json) {
        /** Checks that nothing is missing. */
        public AccessLogSettings {
            Objects.requireNonNull(file, "file");
        }
    }

    /**
     * When the server itself begins a log file anew.
     *
     * @param byteSize the size from which on the file is put aside; 0 for never
     * @param files how many files that were put aside are kept; at least 1
     */
    public record LogRotation(long byteSize, int files) {
        /** Files grow until somebody else moves them away. */
        public static final LogRotation NONE = new LogRotation(0, 5);
    }
}
