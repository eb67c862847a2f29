// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * How durations are sorted into buckets: below 64 ns each nanosecond has its own, and from there each power of two is
 * cut into 32 of equal width. A bucket is therefore never wider than 1/32 of the durations in it, whether they are
 * microseconds or minutes. Durations of {@link #LIMIT_NANOS} and more share the last bucket, and negative ones count as
 * 0.
 */
public final class LatencyBuckets {
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
