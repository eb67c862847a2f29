// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.Arrays;

/** How long something took, each time: exact counts and sum, durations by {@link LatencyBuckets}. Immutable. */
public final class Latencies {
    /** Of what never happened. */
    public static final Latencies NONE = new Latencies(new long[0], 0);

    /** By bucket; shorter than there are buckets where the last ones are empty. */
    private final long[] counts;

    private final long count;
    private final long sumNanos;

    /** Copies {@code counts} by {@link LatencyBuckets}, missing ones at the end 0; the sum is of all durations. */
    public Latencies(long[] counts, long sumNanos) {
        int used = counts.length;
        while (used > 0 && counts[used - 1] == 0) {
            used--;
        }
        this.counts = Arrays.copyOf(counts, used);
        this.sumNanos = sumNanos;
        long sum = 0;
        for (long one : this.counts) {
            sum += one;
        }
        count = sum;
    }

    /** How many durations there are. */
    public long count() {
        return count;
    }

    /** The sum of all durations, in nanoseconds. */
    public long sumNanos() {
        return sumNanos;
    }

    /** How many durations lie in that one of the {@link LatencyBuckets}. */
    public long count(int bucket) {
        return bucket < counts.length ? counts[bucket] : 0;
    }

    /** The durations that are new since {@code earlier}; all of them where that is of another beginning. */
    public Latencies since(Latencies earlier) {
        long[] added = counts.clone();
        for (int i = 0; i < earlier.counts.length; i++) {
            if (i >= added.length || added[i] < earlier.counts[i]) {
                return this;
            }
            added[i] -= earlier.counts[i];
        }
        return new Latencies(added, sumNanos - earlier.sumNanos);
    }

    /** The durations of both. */
    public Latencies plus(Latencies other) {
        if (other.count == 0) {
            return this;
        }
        if (count == 0) {
            return other;
        }
        long[] sums = Arrays.copyOf(counts, Math.max(counts.length, other.counts.length));
        for (int i = 0; i < other.counts.length; i++) {
            sums[i] += other.counts[i];
        }
        return new Latencies(sums, sumNanos + other.sumNanos);
    }

    /**
     * A duration that a share of {@code quantile}, 0 to 1, of all durations do not exceed, at most 1/32 more than the
     * real one; 0 without any.
     */
    public long quantileNanos(double quantile) {
        long rank = Math.max(1, (long) Math.ceil(quantile * count));
        long seen = 0;
        for (int bucket = 0; bucket < counts.length; bucket++) {
            seen += counts[bucket];
            if (seen >= rank) {
                return bucket == LatencyBuckets.COUNT - 1 ? LatencyBuckets.LIMIT_NANOS : LatencyBuckets.highest(bucket);
            }
        }
        return 0;
    }

    /** How many durations are {@code nanos} or less, but for those up to 1/32 less: exact where a bucket ends there. */
    public long countUpTo(long nanos) {
        long sum = 0;
        for (int bucket = 0; bucket < counts.length && LatencyBuckets.highest(bucket) <= nanos; bucket++) {
            sum += counts[bucket];
        }
        return sum;
    }

    /**
     * Buckets of durations: below 64 ns each nanosecond has its own, from there each power of two is cut into 32 of
     * equal width. A bucket is never wider than 1/32 of its durations, microseconds or minutes. Those of {@link
     * #LIMIT_NANOS} and more share the last one; negative ones count as 0.
     */
    public static final class LatencyBuckets {
        private static final int SUB_BUCKET_BITS = 5;
        private static final int SUB_BUCKETS = 1 << SUB_BUCKET_BITS;
        private static final int LIMIT_BITS = 42;

        /** From here on durations are not told apart: a little over 73 minutes. */
        public static final long LIMIT_NANOS = 1L << LIMIT_BITS;

        /** How many buckets there are, the last one included. */
        public static final int COUNT = (LIMIT_BITS - SUB_BUCKET_BITS) * SUB_BUCKETS + SUB_BUCKETS + 1;

        private LatencyBuckets() {}

        /** The bucket of a duration, from 0. */
        public static int bucketOf(long nanos) {
            if (nanos < 2 * SUB_BUCKETS) {
                return (int) Math.max(0, nanos);
            }
            if (nanos >= LIMIT_NANOS) {
                return COUNT - 1;
            }
            int shift = Long.SIZE - 1 - SUB_BUCKET_BITS - Long.numberOfLeadingZeros(nanos);
            return (shift << SUB_BUCKET_BITS) + (int) (nanos >>> shift);
        }

        /** The shortest duration of a bucket, in nanoseconds. */
        public static long lowest(int bucket) {
            if (bucket < 2 * SUB_BUCKETS) {
                return bucket;
            }
            int shift = (bucket >>> SUB_BUCKET_BITS) - 1;
            return (long) ((bucket & (SUB_BUCKETS - 1)) + SUB_BUCKETS) << shift;
        }

        /** The longest duration of a bucket, in nanoseconds; {@link Long#MAX_VALUE} for the last. */
        public static long highest(int bucket) {
            return bucket == COUNT - 1 ? Long.MAX_VALUE : lowest(bucket + 1) - 1;
        }
    }
}
