// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.runtime.Latencies;
import gatun.runtime.LatencyBuckets;
import java.util.Arrays;

/** The durations of a short time, kept in little memory: only the buckets from the first that is used to the last. */
final class Durations {
    /** Of a time in which nothing happened. */
    static final Durations NONE = new Durations(0, new int[0]);

    private final int first;
    private final int[] counts;

    private Durations(int first, int[] counts) {
        this.first = first;
        this.counts = counts;
    }

    /** A copy of {@code latencies}. */
    static Durations of(Latencies latencies) {
        if (latencies.count() == 0) {
            return NONE;
        }
        int first = 0;
        while (latencies.count(first) == 0) {
            first++;
        }
        int[] counts = new int[LatencyBuckets.COUNT - first];
        int used = 0;
        for (int i = 0; i < counts.length; i++) {
            counts[i] = (int) Math.min(Integer.MAX_VALUE, latencies.count(first + i));
            used = counts[i] == 0 ? used : i + 1;
        }
        return new Durations(first, Arrays.copyOf(counts, used));
    }

    /** The durations of all. */
    static Latencies sum(Iterable<Durations> all) {
        long[] sums = new long[LatencyBuckets.COUNT];
        for (Durations one : all) {
            for (int i = 0; i < one.counts.length; i++) {
                sums[one.first + i] += one.counts[i];
            }
        }
        return new Latencies(sums, 0);
    }
}
