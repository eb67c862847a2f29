// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.statistics.ResponseTable;

/**
 * How far the answer to one request is: how many responses it had, and when the last. Counts what becomes of each. Used
 * by the instance's thread only.
 */
final class ResponseProgress {
    private int place;
    private long beforeNanos;

    /** Notes that a run for the request begins; {@code now} is a reading of {@link System#nanoTime}. */
    void begin(long now) {
        beforeNanos = now;
    }

    /** Counts a response that was made at {@code madeNanos} and has been sent now. */
    void sent(ResponseTable table, long madeNanos) {
        long sentNanos = System.nanoTime();
        table.sent(place++, madeNanos - beforeNanos, sentNanos - madeNanos);
        beforeNanos = sentNanos;
    }

    /** Counts the end of the answer without one more response. */
    void ended(ResponseTable table) {
        table.ended(place, System.nanoTime() - beforeNanos);
    }

    /**
     * Counts a failure in the place of the next response; one that comes of it that nobody wants more is
     * {@code unwanted}.
     */
    void brokenOff(ResponseTable table, boolean unwanted) {
        long nanos = System.nanoTime() - beforeNanos;
        if (unwanted) {
            table.cancelled(place, nanos);
        } else {
            table.failed(place, nanos);
        }
    }
}
