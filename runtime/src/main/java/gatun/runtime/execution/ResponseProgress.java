// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.statistics.ResponseTable;

/** How many responses one request has had, and when the last. Used by the instance's thread only. */
final class ResponseProgress {
    private int place;
    private long beforeNanos;

    /** Notes that a run for the request begins; {@code now} is a reading of {@link System#nanoTime}. */
    void begin(long now) {
        beforeNanos = now;
    }

    void sent(ResponseTable table, long madeNanos) {
        long sentNanos = System.nanoTime();
        table.sent(place++, madeNanos - beforeNanos, sentNanos - madeNanos);
        beforeNanos = sentNanos;
    }

    /** As {@link #sent}, of a failure in the place of a response. */
    void sentFailure(ResponseTable table, long madeNanos) {
        long sentNanos = System.nanoTime();
        table.sentFailure(place++, madeNanos - beforeNanos, sentNanos - madeNanos);
        beforeNanos = sentNanos;
    }

    /** Counts the end of the responses without one more. */
    void ended(ResponseTable table) {
        table.ended(place, System.nanoTime() - beforeNanos);
    }

    /** Counts a failure in the next response's place; {@code cancelled} where the client gave up. */
    void brokenOff(ResponseTable table, boolean cancelled) {
        long nanos = System.nanoTime() - beforeNanos;
        if (cancelled) {
            table.cancelled(place, nanos);
        } else {
            table.failed(place, nanos);
        }
    }
}
