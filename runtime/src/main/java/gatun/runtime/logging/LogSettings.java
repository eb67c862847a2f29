// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/**
 * The settings of the log: which levels, how a line begins, and the file to append to; empty for standard error. {@code
 * verbosity} is 0 for no verbose lines, 1 for those of Gatun, 2 and more for its libraries' as well.
 */
public record LogSettings(
        int verbosity, boolean info, boolean warning, boolean error, LogFormat format, Optional<Path> file) {
    /** Checks that nothing is missing. */
    public LogSettings {
        Objects.requireNonNull(format, "format");
        Objects.requireNonNull(file, "file");
    }

    /** Informational lines, warnings and errors to standard error. */
    public static LogSettings standard() {
        return new LogSettings(0, true, true, true, LogFormat.DEFAULT, Optional.empty());
    }

    /** The same with another verbosity. */
    public LogSettings withVerbosity(int level) {
        return new LogSettings(level, info, warning, error, format, file);
    }

    /** The same, with informational lines or without. */
    public LogSettings withInfo(boolean logged) {
        return new LogSettings(verbosity, logged, warning, error, format, file);
    }

    /** The same, with warnings or without. */
    public LogSettings withWarning(boolean logged) {
        return new LogSettings(verbosity, info, logged, error, format, file);
    }

    /** The same, with errors or without. */
    public LogSettings withError(boolean logged) {
        return new LogSettings(verbosity, info, warning, logged, format, file);
    }

    /** The same with lines that begin in another way. */
    public LogSettings withFormat(LogFormat newFormat) {
        return new LogSettings(verbosity, info, warning, error, newFormat, file);
    }

    /** How a log line is written; the names and shapes are Triton's unless they say otherwise. */
    public enum LogFormat {
        /** {@code I0520 20:03:25.829575 3355 Server] text}: severity, month and day, time, process id, source. */
        DEFAULT("default"),
        /** {@code 2026-05-20T20:03:25Z I 3355 Server] text}: time in UTC, severity, process id, source. */
        ISO8601("ISO8601"),
        /** A JSON object on each line, with the time, the level, the source and the text; not one of Triton's. */
        JSON("json");

        private final String wireName;

        LogFormat(String wireName) {
            this.wireName = wireName;
        }

        /** The name that flags and protocols give it. */
        public String wireName() {
            return wireName;
        }

        /** The format of this name; empty when there is none. */
        public static Optional<LogFormat> of(String wireName) {
            for (LogFormat format : values()) {
                if (format.wireName.equals(wireName)) {
                    return Optional.of(format);
                }
            }
            return Optional.empty();
        }
    }
}
