// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagType;
import gatun.runtime.logging.LogSettings;
import gatun.runtime.logging.LogSettings.LogFormat;
import gatun.server.settings.LoggingSettings;
import gatun.server.settings.LoggingSettings.AccessLogSettings;
import gatun.server.settings.LoggingSettings.LogRotation;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The log, and the access log. Read once. */
final class LogFlags extends FlagGroup {
    private static final LogSettings STANDARD = LogSettings.standard();

    /** A number, or {@code true} for 1 and {@code false} for 0, as Triton takes it. */
    private static final FlagType<Integer> VERBOSITY =
            FlagType.of("LEVEL", LogFlags::verbosity).orBare("1");

    /** In Triton's spelling. */
    private static final FlagType<LogFormat> FORMAT = FlagType.choice(
            "FORMAT",
            "a format: default, ISO8601 or json",
            Map.of("default", LogFormat.DEFAULT, "ISO8601", LogFormat.ISO8601, "json", LogFormat.JSON));

    /** Whether lines of the access log are JSON. */
    private static final FlagType<Boolean> ACCESS_FORMAT =
            FlagType.choice("FORMAT", "a format: text or json", Map.of("text", false, "json", true));

    private static final Path STANDARD_OUTPUT = Path.of("-");

    private final Flag<Integer> verbosity = flag(
            "--log-verbose",
            VERBOSITY,
            STANDARD.verbosity(),
            "1 logs what Gatun does in detail, 2 what its libraries do as well.");
    private final Flag<Boolean> info =
            yesOrNo("--log-info", STANDARD.info(), "Whether informational lines are logged.");
    private final Flag<Boolean> warning = yesOrNo("--log-warning", STANDARD.warning(), "Whether warnings are logged.");
    private final Flag<Boolean> error = yesOrNo("--log-error", STANDARD.error(), "Whether errors are logged.");
    private final Flag<LogFormat> format = flag(
            "--log-format",
            FORMAT,
            STANDARD.format(),
            "How a line begins, default or ISO8601; json: a JSON object on each line.");
    private final Flag<Optional<Path>> file =
            optional("--log-file", FlagType.PATH, "Append the log to FILE instead of writing it to standard error.");
    private final Flag<Optional<Path>> accessLog =
            optional("--access-log", FlagType.PATH, "Append a line for each request to FILE; - for standard output.");
    private final Flag<Optional<Boolean>> accessLogFormat = optional(
            "--access-log-format",
            ACCESS_FORMAT,
            "text: name=value pairs; json: a JSON object on each line (default: json where --log-format is, else text).");
    private final Flag<Long> rotateBytes = flag(
            "--log-rotate-bytes",
            FlagType.BYTE_SIZE_OR_NONE,
            LogRotation.NONE.byteSize(),
            "The size from which on the files of --log-file and --access-log are renamed FILE.1, and begun anew; 0 for"
                    + " never.");
    private final Flag<Integer> rotateFiles = flag(
            "--log-rotate-files",
            FlagType.COUNT,
            LogRotation.NONE.files(),
            "How many files that were renamed so are kept.");

    LoggingSettings settings() {
        LogSettings log = new LogSettings(
                verbosity.value(), info.value(), warning.value(), error.value(), format.value(), file.value());
        boolean json = accessLogFormat.value().orElse(format.value() == LogFormat.JSON);
        Optional<AccessLogSettings> access = accessLog
                .value()
                .map(target ->
                        new AccessLogSettings(Optional.of(target).filter(path -> !path.equals(STANDARD_OUTPUT)), json));
        return new LoggingSettings(log, access, new LogRotation(rotateBytes.value(), rotateFiles.value()));
    }

    private static Integer verbosity(String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "true" -> 1;
            case "false" -> 0;
            default -> (int) FlagSpecs.number(value, 0, Integer.MAX_VALUE, "a level from 0 up");
        };
    }
}
