// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Keeps what a process says within a share of the log, since a loop must not fill the disk: {@link #BURST_BYTES} at
 * once, then {@link #BYTES_PER_SECOND}. The rest is left out, counted, and reported in one line. Thread-safe.
 */
final class OutputLimit {
    /** What a process may say at once, such as the warnings of a start. */
    static final long BURST_BYTES = 1 << 20;

    /** What it may say in the long run: hundreds of lines a second, and up to 5.7 GB a day. */
    static final long BYTES_PER_SECOND = 64 << 10;

    /** What a line takes in the log beside its text: time, level and the name of the process. */
    static final int LINE_OVERHEAD = 128;

    /** How much is saved up before lines are written again: one report of lines left out each ten seconds at most. */
    private static final long RESUME_BYTES = 10 * BYTES_PER_SECOND;

    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private final LongSupplier nanoClock;
    private final Consumer<String> report;

    // Guarded by this.
    private long budget = BURST_BYTES;
    private long earnedAt;
    private long omittedLines;
    private long omittedBytes;

    /** @param report takes the line that says what was left out */
    OutputLimit(LongSupplier nanoClock, Consumer<String> report) {
        this.nanoClock = nanoClock;
        this.report = report;
        earnedAt = nanoClock.getAsLong();
    }

    /** Whether a line of so many characters may be written; counts those that may not. */
    boolean allows(int length) {
        String omitted;
        synchronized (this) {
            earn();
            if (budget < (omittedLines > 0 ? RESUME_BYTES : length + LINE_OVERHEAD)) {
                omittedLines++;
                omittedBytes += length;
                return false;
            }
            budget -= length + LINE_OVERHEAD;
            omitted = takeReport();
        }
        tell(omitted);
        return true;
    }

    /** Reports what was left out since the last report, if anything: at the end of the process. */
    void finish() {
        String omitted;
        synchronized (this) {
            omitted = takeReport();
        }
        tell(omitted);
    }

    private void tell(String omitted) {
        if (!omitted.isEmpty()) {
            report.accept(omitted);
        }
    }

    private void earn() {
        long elapsed = nanoClock.getAsLong() - earnedAt;
        long earned = (long) ((double) elapsed * BYTES_PER_SECOND / NANOS_PER_SECOND);
        if (earned > 0) {
            budget = Math.min(BURST_BYTES, budget + earned);
            earnedAt += elapsed;
        }
    }

    private String takeReport() {
        if (omittedLines == 0) {
            return "";
        }
        String text =
                omittedLines + " lines of " + omittedBytes + " characters were left out, since a process may print "
                        + BYTES_PER_SECOND + " bytes a second in the long run";
        omittedLines = 0;
        omittedBytes = 0;
        return text;
    }
}
