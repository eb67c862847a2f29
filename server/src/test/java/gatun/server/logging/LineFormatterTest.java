// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.logging.LogSettings.LogFormat;
import java.time.Instant;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class LineFormatterTest {
    private static LogRecord line(Level level) {
        LogRecord record = new LogRecord(level, "loaded {0}");
        record.setParameters(new Object[] {"digits"});
        record.setLoggerName("gatun.runtime.repository.Repository");
        record.setInstant(Instant.parse("2026-05-20T20:03:25.829575Z"));
        return record;
    }

    @Test
    void shouldBeginAsTritonsDefault() {
        assertThat(new LineFormatter(LogFormat.DEFAULT, 3355).format(line(Level.INFO)))
                .isEqualTo("I0520 20:03:25.829575 3355 Repository] loaded digits\n");
    }

    @Test
    void shouldBeginAsTritonsIso8601() {
        assertThat(new LineFormatter(LogFormat.ISO8601, 3355).format(line(Level.WARNING)))
                .isEqualTo("2026-05-20T20:03:25Z W 3355 Repository] loaded digits\n");
    }

    @Test
    void shouldMarkEachSeverity() {
        LineFormatter formatter = new LineFormatter(LogFormat.DEFAULT, 1);
        assertThat(formatter.format(line(Level.SEVERE))).startsWith("E0520");
        assertThat(formatter.format(line(Level.WARNING))).startsWith("W0520");
        assertThat(formatter.format(line(Level.INFO))).startsWith("I0520");
        assertThat(formatter.format(line(Level.FINE))).startsWith("V0520");
    }

    @Test
    void shouldWriteOneJsonObjectOnEachLine() {
        LogRecord record = line(Level.WARNING);
        record.setMessage("two\nlines, \"quoted\" \u001b[2J");
        record.setThrown(new IllegalStateException("broken"));
        String text = new LineFormatter(LogFormat.JSON, 3355).format(record);
        assertThat(text.lines()).hasSize(1);
        assertThat(text)
                .startsWith("{\"time\":\"2026-05-20T20:03:25.")
                .contains(
                        "\",\"level\":\"warning\",\"pid\":3355,\"logger\":\"",
                        "\"message\":\"two\\nlines, \\\"quoted\\\" \\u001b[2J\"",
                        "\"exception\":\"java.lang.IllegalStateException: broken\\n\\tat ")
                .endsWith("\"}\n");
    }

    @Test
    void shouldWriteTheCauseBeneath() {
        LogRecord record = line(Level.SEVERE);
        record.setThrown(new IllegalStateException("broken"));
        assertThat(new LineFormatter(LogFormat.DEFAULT, 1).format(record).lines())
                .element(1)
                .isEqualTo("java.lang.IllegalStateException: broken");
    }
}
