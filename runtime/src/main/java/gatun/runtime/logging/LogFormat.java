// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import java.util.Optional;

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
