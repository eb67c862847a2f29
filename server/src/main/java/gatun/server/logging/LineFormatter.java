// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import gatun.runtime.logging.LogSettings.LogFormat;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.logging.Formatter;
import java.util.logging.Level;
import java.util.logging.LogRecord;

/** Writes a record as one line in the chosen {@link LogFormat}; unless that is JSON, its stack trace stands beneath. */
final class LineFormatter extends Formatter {
    /** Always in UTC, as Triton does. */
    private static final DateTimeFormatter DEFAULT_TIME =
            DateTimeFormatter.ofPattern("MMdd HH:mm:ss.SSSSSS", Locale.ROOT);

    private static final DateTimeFormatter ISO_TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss'Z'", Locale.ROOT);

    private static final DateTimeFormatter JSON_TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'", Locale.ROOT);

    private final LogFormat format;
    private final long processId;

    LineFormatter(LogFormat format, long processId) {
        this.format = format;
        this.processId = processId;
    }

    @Override
    public String format(LogRecord record) {
        OffsetDateTime time = record.getInstant().atOffset(ZoneOffset.UTC);
        if (format == LogFormat.JSON) {
            return json(record, time);
        }
        char severity = severity(record.getLevel());
        StringBuilder line = new StringBuilder(120);
        switch (format) {
            case DEFAULT -> line.append(severity).append(DEFAULT_TIME.format(time));
            case ISO8601, JSON -> line.append(ISO_TIME.format(time)).append(' ').append(severity);
        }
        line.append(' ').append(processId).append(' ').append(source(record)).append("] ");
        append(line, formatMessage(record));
        line.append('\n');
        if (record.getThrown() != null) {
            line.append(trace(record.getThrown()));
        }
        return line.toString();
    }

    private String json(LogRecord record, OffsetDateTime time) {
        StringBuilder line = new StringBuilder(160);
        JsonLine object = new JsonLine(line)
                .text("time", JSON_TIME.format(time))
                .text("level", level(record.getLevel()))
                .number("pid", processId)
                .text("logger", record.getLoggerName() == null ? "" : record.getLoggerName())
                .text("message", formatMessage(record));
        if (record.getThrown() != null) {
            object.text("exception", trace(record.getThrown()));
        }
        object.end();
        return line.toString();
    }

    private static String level(Level level) {
        return switch (severity(level)) {
            case 'E' -> "error";
            case 'W' -> "warning";
            case 'I' -> "info";
            default -> "verbose";
        };
    }

    private static String trace(Throwable thrown) {
        StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace));
        return trace.toString();
    }

    /** Appends a client's text, in which no character begins a log line or moves the cursor. */
    private static void append(StringBuilder line, String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\n') {
                line.append("\n    ");
            } else if (Character.isISOControl(c) && c != '\t') {
                line.append(String.format("\\u%04x", (int) c));
            } else {
                line.append(c);
            }
        }
    }

    private static char severity(Level level) {
        int value = level.intValue();
        if (value >= Level.SEVERE.intValue()) {
            return 'E';
        }
        if (value >= Level.WARNING.intValue()) {
            return 'W';
        }
        return value >= Level.INFO.intValue() ? 'I' : 'V';
    }

    /** The simple name of the class that logs. */
    private static String source(LogRecord record) {
        String logger = record.getLoggerName();
        return logger == null ? "" : logger.substring(logger.lastIndexOf('.') + 1);
    }
}
