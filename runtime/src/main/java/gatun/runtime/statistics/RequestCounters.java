// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.RequestStatistics;

/**
 * The requests of one batch size that one instance answered. Written by the instance's thread only, read by any thread.
 */
final class RequestCounters {
    private final int batchSize;
    private final Tally count = new Tally();
    private final Tally requestNanos = new Tally();
    private final Tally queueNanos = new Tally();
    private final Tally inputNanos = new Tally();
    private final Tally inferNanos = new Tally();
    private final Tally outputNanos = new Tally();

    RequestCounters(int batchSize) {
        this.batchSize = batchSize;
    }

    int batchSize() {
        return batchSize;
    }

    /** Counts the request that stands at {@code index} among those that an execution answered. */
    void answered(ExecutionTimes times, int index) {
        queueNanos.add(times.queueNanos(index));
        inputNanos.add(times.inferStartedNanos() - times.startedNanos());
        inferNanos.add(times.inferEndedNanos() - times.inferStartedNanos());
        outputNanos.add(times.endedNanos() - times.inferEndedNanos());
        requestNanos.add(times.endedNanos() - times.arrivedNanos(index));
        count.add(1);
    }

    /** The counters as they are now. */
    RequestStatistics snapshot() {
        return new RequestStatistics(
                batchSize,
                count.get(),
                requestNanos.get(),
                queueNanos.get(),
                inputNanos.get(),
                inferNanos.get(),
                outputNanos.get());
    }
}
