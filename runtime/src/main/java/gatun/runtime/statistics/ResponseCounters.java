// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.ResponseStatistics;

/**
 * The outcomes of the responses that are the first, second, and so on, to their requests. Written by the instance's
 * thread only, read by any.
 */
final class ResponseCounters {
    private final Counter infer = new Counter();
    private final Counter output = new Counter();
    private final Counter success = new Counter();
    private final Counter fail = new Counter();
    private final Counter empty = new Counter();
    private final Counter cancel = new Counter();

    /** A number, and the time of what is counted. */
    private static final class Counter {
        private final Tally count = new Tally();
        private final Tally nanos = new Tally();

        void add(long newNanos) {
            nanos.add(newNanos);
            count.add(1);
        }

        ResponseStatistics.Total snapshot() {
            return new ResponseStatistics.Total(count.get(), nanos.get());
        }
    }

    void sent(long inferNanos, long outputNanos) {
        infer.add(inferNanos);
        output.add(outputNanos);
        success.add(inferNanos + outputNanos);
    }

    void sentFailure(long inferNanos, long outputNanos) {
        infer.add(inferNanos);
        output.add(outputNanos);
        fail.add(inferNanos + outputNanos);
    }

    void failed(long nanos) {
        infer.add(nanos);
        fail.add(nanos);
    }

    void ended(long nanos) {
        infer.add(nanos);
        empty.add(nanos);
    }

    void cancelled(long nanos) {
        cancel.add(nanos);
    }

    /** The counters as they are now. */
    ResponseStatistics snapshot() {
        return new ResponseStatistics(
                infer.snapshot(),
                output.snapshot(),
                success.snapshot(),
                fail.snapshot(),
                empty.snapshot(),
                cancel.snapshot());
    }
}
