// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.BatchStatistics;

/** The executions of one instance with one batch size. Written by the instance's thread only, read by any thread. */
final class BatchCounters {
    private final int batchSize;
    private final Tally executions = new Tally();
    private final Tally inputNanos = new Tally();
    private final Tally inferNanos = new Tally();
    private final Tally outputNanos = new Tally();

    BatchCounters(int batchSize) {
        this.batchSize = batchSize;
    }

    int batchSize() {
        return batchSize;
    }

    /** Counts an execution. */
    void executed(ExecutionTimes times) {
        executions.add(1);
        inputNanos.add(times.inferStartedNanos() - times.startedNanos());
        inferNanos.add(times.inferEndedNanos() - times.inferStartedNanos());
        outputNanos.add(times.endedNanos() - times.inferEndedNanos());
    }

    /** The counters as they are now. */
    BatchStatistics snapshot() {
        return new BatchStatistics(batchSize, executions.get(), inputNanos.get(), inferNanos.get(), outputNanos.get());
    }
}
