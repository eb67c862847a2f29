// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.ResponseStatistics;
import gatun.runtime.statistics.Histogram.SingleWriterCounter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The outcomes of an instance's decoupled responses, by place. Written by the instance's thread, read by any. */
public final class ResponseTable {
    /** Responses from here on are counted as if they stood at the last place: nobody looks at thousands of rows. */
    public static final int PLACES = 1000;

    /** A new array for each place that is reached for the first time. */
    private volatile ResponseCounters[] places = {};

    /** A table without counts. */
    public ResponseTable() {}

    /** Counts a response after {@code place} others; {@code inferNanos} from the one before until the engine had it. */
    public void sent(int place, long inferNanos, long outputNanos) {
        at(place).sent(inferNanos, outputNanos);
    }

    /** As {@link #sent}, of a failure in the place of a response. */
    public void sentFailure(int place, long inferNanos, long outputNanos) {
        at(place).sentFailure(inferNanos, outputNanos);
    }

    /** Counts a failure where a response could have been, {@code nanos} after the one before. */
    public void failed(int place, long nanos) {
        at(place).failed(nanos);
    }

    /** Counts the end of the responses to a request without one more, {@code nanos} after the one before. */
    public void ended(int place, long nanos) {
        at(place).ended(nanos);
    }

    /** Counts a response that nobody wanted any more, {@code nanos} after the one before. */
    public void cancelled(int place, long nanos) {
        at(place).cancelled(nanos);
    }

    private ResponseCounters at(int place) {
        int row = Math.min(place, PLACES - 1);
        ResponseCounters[] present = places;
        if (row >= present.length) {
            ResponseCounters[] more = Arrays.copyOf(present, row + 1);
            for (int i = present.length; i < more.length; i++) {
                more[i] = new ResponseCounters();
            }
            present = more;
            places = more;
        }
        return present[row];
    }

    List<ResponseStatistics> snapshot() {
        List<ResponseStatistics> snapshot = new ArrayList<>();
        for (ResponseCounters counters : places) {
            snapshot.add(counters.snapshot());
        }
        return snapshot;
    }

    /** The outcomes of the first, second, ... responses to requests. Written by the instance's thread, read by any. */
    static final class ResponseCounters {
        private final Counter infer = new Counter();
        private final Counter output = new Counter();
        private final Counter success = new Counter();
        private final Counter fail = new Counter();
        private final Counter empty = new Counter();
        private final Counter cancel = new Counter();

        /** A number, and the time of what is counted. */
        private static final class Counter {
            private final SingleWriterCounter count = new SingleWriterCounter();
            private final SingleWriterCounter nanos = new SingleWriterCounter();

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
}
