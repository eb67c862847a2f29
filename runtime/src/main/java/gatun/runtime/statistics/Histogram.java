// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.runtime.Latencies;
import gatun.runtime.Latencies.LatencyBuckets;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Durations counted by {@link LatencyBuckets}, and their sum. One thread at a time adds, by two ordered stores; any
 * thread reads without making it wait, perhaps the count and not yet the sum.
 */
final class Histogram {
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] counts = new long[LatencyBuckets.COUNT];
    private final SingleWriterCounter sumNanos = new SingleWriterCounter();

    /** Counts a duration; only ever by one thread at a time. */
    void add(long nanos) {
        int bucket = LatencyBuckets.bucketOf(nanos);
        COUNT.setRelease(counts, bucket, counts[bucket] + 1);
        sumNanos.add(nanos);
    }

    long sumNanos() {
        return sumNanos.get();
    }

    Latencies snapshot() {
        long sum = sumNanos.get();
        // A 64-bit JVM copies each number as a whole, and all at once faster than by as many ordered reads.
        VarHandle.acquireFence();
        return new Latencies(counts.clone(), sum);
    }

    /** A number that one thread adds to, by ordered stores, and any reads: a moment old, never torn. */
    static final class SingleWriterCounter {
        private static final VarHandle VALUE = field();

        private long value;

        /** Adds; only ever by the same thread. */
        void add(long delta) {
            set(value + delta);
        }

        /** Replaces; only ever by the thread that adds. */
        void set(long next) {
            VALUE.setRelease(this, next);
        }

        long get() {
            return (long) VALUE.getAcquire(this);
        }

        private static VarHandle field() {
            try {
                return MethodHandles.lookup().findVarHandle(SingleWriterCounter.class, "value", long.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }
}
