package gatun.server.logging;

import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** How a log line begins; the names and shapes are those of Triton's {@code --log-format}. */
public enum LogFormat {
    /** {@code I0520 20:03:25.829575 3355 Server] text}: severity, month and day, time, process id, source. */
    DEFAULT("MMdd HH:mm:ss.SSSSSS", true),
    /** {@code 2026-05-20T20:03:25Z I 3355 Server] text}: time in UTC, severity, process id, source. */
    ISO8601("yyyy-MM-dd'T'HH:mm:ss'Z'", false);

    private final DateTimeFormatter time;
    private final boolean severityFirst;

    LogFormat(String timePattern, boolean severityFirst) {
        this.time = DateTimeFormatter.ofPattern(timePattern, Locale.ROOT);
        this.severityFirst = severityFirst;
    }

    /** How times are written; always in UTC, as Triton does. */
    DateTimeFormatter time() {
        return time;
    }

    /** Whether the severity stands before the time and not after it. */
    boolean severityFirst() {
        return severityFirst;
    }
}
