package gatun.runtime.cache;

import gatun.runtime.CacheStatistics;
import gatun.runtime.ModelStatistics;
import java.util.concurrent.atomic.LongAdder;

/** What the cache has done for one model. Safe for any thread. */
final class CacheCounters {
    private final LongAdder hits = new LongAdder();
    private final LongAdder hitNanos = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder missNanos = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder failureNanos = new LongAdder();

    /** Counts a request that was answered now. */
    void hit(long arrivedNanos) {
        hits.increment();
        hitNanos.add(System.nanoTime() - arrivedNanos);
    }

    /** Counts a request that the model had to answer, and how long looking for its answer and putting it in took. */
    void miss(long nanos) {
        misses.increment();
        missNanos.add(nanos);
    }

    /** Counts a request that failed on this side of the model, such as one whose region is too small for the answer. */
    void failed(long arrivedNanos) {
        failures.increment();
        failureNanos.add(System.nanoTime() - arrivedNanos);
    }

    /** What the model has counted, and what the cache did in its place. */
    ModelStatistics with(ModelStatistics model) {
        long hitSum = hitNanos.sum();
        return new ModelStatistics(
                model.name(),
                model.version(),
                model.successCount() + hits.sum(),
                model.failureRejected(),
                model.failureCanceled(),
                model.failureBackend(),
                model.failureOther() + failures.sum(),
                model.requestNanos() + hitSum,
                model.failureNanos() + failureNanos.sum(),
                model.queueNanos(),
                model.computeInputNanos(),
                model.computeInferNanos(),
                model.computeOutputNanos(),
                model.lastInferenceMillis(),
                model.batches(),
                model.pendingRequestCount(),
                model.loadNanos(),
                new CacheStatistics(hits.sum(), hitSum, misses.sum(), missNanos.sum()),
                model.responses());
    }
}
