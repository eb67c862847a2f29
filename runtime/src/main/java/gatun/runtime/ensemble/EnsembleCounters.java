package gatun.runtime.ensemble;

import gatun.memory.GatunException;
import gatun.runtime.ModelStatistics;
import gatun.runtime.Origin;
import gatun.runtime.StageLatencies;
import gatun.runtime.statistics.FailureReason;
import gatun.runtime.statistics.InstanceCounters;
import gatun.runtime.statistics.ModelCounters;
import gatun.runtime.statistics.Moments;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What an ensemble has done. An answer counts as one execution, all of whose time is the engine's: how long members queued and computed
 * is counted with them. Safe for any thread.
 */
final class EnsembleCounters {
    private final InstanceCounters answers = new InstanceCounters();
    private final ModelCounters counters = new ModelCounters(List.of(answers));
    private final ReentrantLock lock = new ReentrantLock(); // makes all threads the one writer that answers wants

    /** One answer: never waited, computed all the time. */
    private record Answer(Origin origin, long arrivedNanos, long endedNanos) implements Moments {
        @Override
        public int requestCount() {
            return 1;
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
            return 0;
        }

        @Override
        public long startedNanos() {
            return arrivedNanos;
        }

        @Override
        public long inferStartedNanos() {
            return arrivedNanos;
        }

        @Override
        public long inferEndedNanos() {
            return endedNanos;
        }
    }

    /** Counts an answer that is given now. */
    void answered(int batchSize, Origin origin, long arrivedNanos) {
        Answer answer = new Answer(origin, arrivedNanos, System.nanoTime());
        lock.lock();
        try {
            answers.executed(batchSize, answer);
        } finally {
            lock.unlock();
        }
    }

    /** Counts a request that failed now. */
    void failed(GatunException failure, long arrivedNanos) {
        counters.failed(
                switch (failure.code()) {
                    case UNAVAILABLE -> FailureReason.REJECTED;
                    case CANCELLED -> FailureReason.CANCELED;
                    case INTERNAL -> FailureReason.BACKEND;
                    case UNKNOWN, NOT_FOUND, INVALID_ARGUMENT, UNSUPPORTED, ALREADY_EXISTS -> FailureReason.OTHER;
                },
                arrivedNanos);
    }

    /** How long answers took, by where the requests came from. */
    Map<Origin, StageLatencies> latencies() {
        return counters.latencies();
    }

    /** The counters as they are now. */
    ModelStatistics snapshot(String name, String version, long loadNanos) {
        return counters.snapshot(name, version, 0, loadNanos);
    }
}
