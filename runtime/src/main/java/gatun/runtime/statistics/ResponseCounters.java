// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.ResponseStatistics;

/**
 * The outcomes of the responses that are the first, second, and so on, to their requests. Written by the instance's
 * thread only, read by any.
 */
final class ResponseCounters {
    private final Tally inferNanos = new Tally();
    private final Tally outputNanos = new Tally();
    private final Tally successes = new Tally();
    private final Tally fails = new Tally();
    private final Tally failNanos = new Tally();
    private final Tally empties = new Tally();
    private final Tally emptyNanos = new Tally();
    private final Tally cancels = new Tally();
    private final Tally cancelNanos = new Tally();

    void sent(long newInferNanos, long newOutputNanos) {
        inferNanos.add(newInferNanos);
        outputNanos.add(newOutputNanos);
        successes.add(1);
    }

    void failed(long nanos) {
        failNanos.add(nanos);
        fails.add(1);
    }

    void ended(long nanos) {
        emptyNanos.add(nanos);
        empties.add(1);
    }

    void cancelled(long nanos) {
        cancelNanos.add(nanos);
        cancels.add(1);
    }

    /** The counters as they are now. */
    ResponseStatistics snapshot() {
        return new ResponseStatistics(
                inferNanos.get(),
                outputNanos.get(),
                successes.get(),
                new ResponseStatistics.Total(fails.get(), failNanos.get()),
                new ResponseStatistics.Total(empties.get(), emptyNanos.get()),
                new ResponseStatistics.Total(cancels.get(), cancelNanos.get()));
    }
}
