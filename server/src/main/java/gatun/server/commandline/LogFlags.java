// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.logging.LogFormat;
import gatun.runtime.logging.LogSettings;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** The log. Filled by picocli, read once. */
final class LogFlags {
    @Option(
            names = "--log-verbose",
            paramLabel = "LEVEL",
            arity = "0..1",
            defaultValue = "0",
            fallbackValue = "1",
            converter = FlagValues.Verbosity.class,
            description = "1 logs what Gatun does in detail, 2 what its libraries do as well.")
    int verbosity;

    @Option(
            names = "--log-info",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether informational lines are logged.")
    boolean info;

    @Option(
            names = "--log-warning",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether warnings are logged.")
    boolean warning;

    @Option(
            names = "--log-error",
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether errors are logged.")
    boolean error;

    @Option(
            names = "--log-format",
            paramLabel = "FORMAT",
            defaultValue = "default",
            converter = FlagValues.Format.class,
            description = "How a line begins: default or ISO8601.")
    LogFormat format = LogFormat.DEFAULT;

    @Option(
            names = "--log-file",
            paramLabel = "FILE",
            description = "Append the log to FILE instead of writing it to standard error.")
    Optional<Path> file = Optional.empty();

    LogSettings settings() {
        return new LogSettings(verbosity, info, warning, error, format, file);
    }
}
