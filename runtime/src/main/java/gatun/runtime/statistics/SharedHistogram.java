// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.Latencies;
import gatun.runtime.LatencyBuckets;
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts durations by {@link LatencyBuckets}, and sums them up, for many threads at once. What is read while something
 * is added may have the one and not yet the other.
 */
public final class SharedHistogram {
    private final LongAdder[] counts = new LongAdder[LatencyBuckets.COUNT];
    private final LongAdder sumNanos = new LongAdder();

    /** Durations of which there are none. */
    public SharedHistogram() {
        Arrays.setAll(counts, bucket -> new LongAdder());
    }

    /** Counts a duration. */
    public void add(long nanos) {
        sumNanos.add(nanos);
        counts[LatencyBuckets.bucketOf(nanos)].increment();
    }

    /** The sum of all durations as it is now. */
    public long sumNanos() {
        return sumNanos.sum();
    }

    /** The durations as they are now. */
    public Latencies snapshot() {
        long[] present = new long[counts.length];
        for (int i = 0; i < present.length; i++) {
            present[i] = counts[i].sum();
        }
        return new Latencies(present, sumNanos());
    }
}
