// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;

class LibraryRecordsTest {
    private final AtomicLong clock = new AtomicLong();
    private final LibraryRecords records = new LibraryRecords(clock::get);

    private static LogRecord record(String logger) {
        LogRecord record = new LogRecord(Level.WARNING, "failed");
        record.setLoggerName(logger);
        record.setThrown(new IllegalStateException("outer", new IllegalArgumentException("inner")));
        return record;
    }

    @Test
    void shouldWriteALineASecondOfEachLoggerWithoutAStackTrace() {
        LogRecord first = record("io.helidon.A");
        assertThat(records.admits(first)).isTrue();
        assertThat(first.getThrown()).isNull();
        assertThat(first.getMessage()).isEqualTo("failed: java.lang.IllegalArgumentException: inner");
        for (int i = 0; i < 5000; i++) {
            assertThat(records.admits(record("io.helidon.A"))).isFalse();
        }
        assertThat(records.admits(record("io.helidon.B"))).isTrue();
        clock.addAndGet(TimeUnit.SECONDS.toNanos(1));
        LogRecord next = record("io.helidon.A");
        assertThat(records.admits(next)).isTrue();
        assertThat(next.getMessage()).endsWith("(and 5000 more since the last)");
    }

    @Test
    void shouldLeaveOurOwnAsTheyAre() {
        for (int i = 0; i < 3; i++) {
            LogRecord own = record("gatun.server.Server");
            assertThat(records.admits(own)).isTrue();
            assertThat(own.getThrown()).isNotNull();
        }
    }
}
