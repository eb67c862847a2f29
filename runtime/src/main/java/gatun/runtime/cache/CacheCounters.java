// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import gatun.runtime.Latencies;
import gatun.runtime.Latencies.LatencyBuckets;
import gatun.runtime.ModelLatencies.CacheLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.CacheStatistics;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/** The cache's counters for one model. Safe for any thread. */
final class CacheCounters {
    private final SharedHistogram hits = new SharedHistogram();
    private final SharedHistogram misses = new SharedHistogram();
    private final LongAdder failures = new LongAdder();
    private final LongAdder failureNanos = new LongAdder();

    void hit(long arrivedNanos) {
        hits.add(System.nanoTime() - arrivedNanos);
    }

    /** Counts a request that the model had to answer, and how long looking for its response and storing it took. */
    void miss(long nanos) {
        misses.add(nanos);
    }

    /** Counts a failure on this side of the model, such as a region too small for the response. */
    void failed(long arrivedNanos) {
        failures.increment();
        failureNanos.add(System.nanoTime() - arrivedNanos);
    }

    /** As {@link gatun.runtime.VersionCounters#activity}, of the requests that the model did not get. */
    long activity() {
        return hits.sumNanos() + failureNanos.sum(); // none takes no time
    }

    CacheLatencies latencies() {
        return new CacheLatencies(hits.snapshot(), misses.snapshot());
    }

    /** The model's statistics, with the requests that the cache answered in its place. */
    ModelStatistics with(ModelStatistics model) {
        Latencies hit = hits.snapshot();
        Latencies miss = misses.snapshot();
        return model.withCache(
                new CacheStatistics(hit.count(), hit.sumNanos(), miss.count(), miss.sumNanos()),
                failures.sum(),
                failureNanos.sum());
    }

    /** Counts durations by {@link LatencyBuckets}, and their sum. Thread-safe; a read may see one without the other. */
    static final class SharedHistogram {
        private final LongAdder[] counts = new LongAdder[LatencyBuckets.COUNT];
        private final LongAdder sumNanos = new LongAdder();

        SharedHistogram() {
            Arrays.setAll(counts, bucket -> new LongAdder());
        }

        void add(long nanos) {
            sumNanos.add(nanos);
            counts[LatencyBuckets.bucketOf(nanos)].increment();
        }

        long sumNanos() {
            return sumNanos.sum();
        }

        Latencies snapshot() {
            long[] present = new long[counts.length];
            for (int i = 0; i < present.length; i++) {
                present[i] = counts[i].sum();
            }
            return new Latencies(present, sumNanos());
        }
    }
}
