// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.runtime.ComputeTimes;
import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.Origin;
import gatun.runtime.statistics.InstanceCounters;
import gatun.runtime.statistics.InstanceCounters.ExecutionTimes;
import gatun.runtime.statistics.ModelCounters;
import gatun.runtime.statistics.ModelCounters.FailureReason;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/** An ensemble's counters. A response is one execution with the stages of all members' runs. Thread-safe. */
final class EnsembleCounters {
    private final ModelCounters counters = new ModelCounters();
    private final InstanceCounters responses = counters.lend();
    private final ReentrantLock lock = new ReentrantLock(); // makes writers of answers take turns

    /** One response. Its stages stand before its end, and add up to more than its time for parallel members. */
    private record Response(
            int batchSize, Origin origin, long arrivedNanos, long firstNanos, long endedNanos, ComputeTimes times)
            implements ExecutionTimes {
        @Override
        public int requestCount() {
            return 1;
        }

        @Override
        public int inferences(int index) {
            return Math.max(1, batchSize);
        }

        @Override
        public Origin origin(int index) {
            return origin;
        }

        @Override
        public long arrivedNanos(int index) {
            return arrivedNanos;
        }

        @Override
        public long firstResponseNanos(int index) {
            return firstNanos;
        }

        @Override
        public long queueNanos(int index) {
            return 0;
        }

        @Override
        public long startedNanos() {
            return inferStartedNanos() - times.inputNanos();
        }

        @Override
        public long inferStartedNanos() {
            return inferEndedNanos() - times.inferNanos();
        }

        @Override
        public long inferEndedNanos() {
            return endedNanos - times.outputNanos();
        }
    }

    /** Counts a response given now; {@code firstNanos} is when the first of several was, 0 for a single one. */
    void answered(int batchSize, Origin origin, long arrivedNanos, long firstNanos, ComputeTimes times) {
        Response response = new Response(batchSize, origin, arrivedNanos, firstNanos, System.nanoTime(), times);
        lock.lock();
        try {
            responses.executed(batchSize, response);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Counts a failure now, with those of the members: Triton's metrics "will reflect the failure counts of their
     * composing models as well as the parent model", all of the reason OTHER. {@code canceled} by the client.
     */
    void failed(int failedMembers, boolean canceled, long arrivedNanos) {
        counters.failed(canceled ? FailureReason.CANCELED : FailureReason.OTHER, arrivedNanos);
        for (int i = 0; i < failedMembers; i++) {
            counters.failed(FailureReason.OTHER, arrivedNanos);
        }
    }

    /** As {@link gatun.runtime.VersionCounters#activity}. */
    long activity() {
        return counters.activity();
    }

    /** How long responses took, by where the requests came from. */
    Map<Origin, StageLatencies> latencies() {
        return counters.latencies();
    }

    ModelStatistics snapshot(String name, String version, long loadNanos) {
        return counters.snapshot(name, version, ModelStatistics.Occupancy.NONE, loadNanos);
    }
}
