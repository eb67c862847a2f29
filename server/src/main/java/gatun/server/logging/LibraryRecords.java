// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.logging.LogRecord;

/** Limits Helidon's log lines about clients: one a second for each logger and level. Thread-safe. */
final class LibraryRecords {
    private static final String HELIDON = "io.helidon.";
    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The time of a logger's last line, and how many have been left out since. */
    private record Last(long nanos, long leftOut) {}

    private final LongSupplier nanoClock;
    private final ConcurrentHashMap<String, Last> kinds = new ConcurrentHashMap<>();

    LibraryRecords(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /** Whether {@code record} is to be written; a record of Helidon's then names its cause in the line itself. */
    boolean admits(LogRecord record) {
        String logger = record.getLoggerName();
        if (logger == null || !logger.startsWith(HELIDON)) {
            return true;
        }
        long now = nanoClock.getAsLong();
        long[] leftOut = {-1};
        kinds.compute(logger + " " + record.getLevel(), (kind, last) -> {
            if (last != null && now - last.nanos() < PERIOD_NANOS) {
                return new Last(last.nanos(), last.leftOut() + 1);
            }
            leftOut[0] = last == null ? 0 : last.leftOut();
            return new Last(now, 0);
        });
        if (leftOut[0] < 0) {
            return false;
        }
        Throwable thrown = record.getThrown();
        if (thrown != null) {
            record.setMessage(record.getMessage() + ": " + (thrown.getCause() == null ? thrown : thrown.getCause()));
            record.setThrown(null);
        }
        if (leftOut[0] > 0) {
            record.setMessage(record.getMessage() + " (and " + leftOut[0] + " more since the last)");
        }
        return true;
    }
}
