// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.logging.LogFormat;
import gatun.runtime.logging.LogSettings;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The log. Read once. */
final class LogFlags extends FlagGroup {
    private static final LogSettings STANDARD = LogSettings.standard();

    /** A number, or {@code true} for 1 and {@code false} for 0, as Triton takes it. */
    private static final FlagType<Integer> VERBOSITY =
            FlagType.of("LEVEL", LogFlags::verbosity).orBare("1");

    /** In Triton's spelling. */
    private static final FlagType<LogFormat> FORMAT = FlagType.choice(
            "FORMAT",
            "a format: default or ISO8601",
            Map.of("default", LogFormat.DEFAULT, "ISO8601", LogFormat.ISO8601));

    private final Flag<Integer> verbosity = flag(
            "--log-verbose",
            VERBOSITY,
            STANDARD.verbosity(),
            "1 logs what Gatun does in detail, 2 what its libraries do as well.");
    private final Flag<Boolean> info =
            yesOrNo("--log-info", STANDARD.info(), "Whether informational lines are logged.");
    private final Flag<Boolean> warning = yesOrNo("--log-warning", STANDARD.warning(), "Whether warnings are logged.");
    private final Flag<Boolean> error = yesOrNo("--log-error", STANDARD.error(), "Whether errors are logged.");
    private final Flag<LogFormat> format =
            flag("--log-format", FORMAT, STANDARD.format(), "How a line begins: default or ISO8601.");
    private final Flag<Optional<Path>> file =
            optional("--log-file", FlagType.PATH, "Append the log to FILE instead of writing it to standard error.");

    LogSettings settings() {
        return new LogSettings(
                verbosity.value(), info.value(), warning.value(), error.value(), format.value(), file.value());
    }

    private static Integer verbosity(String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "true" -> 1;
            case "false" -> 0;
            default -> (int) FlagType.number(value, 0, Integer.MAX_VALUE, "a level from 0 up");
        };
    }
}
