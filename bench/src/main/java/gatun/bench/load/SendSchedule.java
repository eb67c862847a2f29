// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;

/** An open loop's send times, by rate and seed alone: a slow server is not spared. Thread-safe. */
final class SendSchedule implements Pace {
    private static final double NANOS_PER_SECOND = 1e9;

    private final long start;
    private final double meanGapNanos;
    private final Distribution distribution;
    private final ReentrantLock lock = new ReentrantLock();
    private final SplittableRandom random; // guarded by lock
    private double nextOffset; // guarded by lock; from the start, in nanoseconds

    SendSchedule(long start, double perSecond, Distribution distribution, SplittableRandom random) {
        this.start = start;
        this.meanGapNanos = NANOS_PER_SECOND / perSecond;
        this.distribution = distribution;
        this.random = random;
        nextOffset = gap();
    }

    @Override
    public long next(long now) {
        lock.lock();
        try {
            long due = start + (long) nextOffset;
            nextOffset += gap();
            return due;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long overdue(long now) {
        lock.lock();
        try {
            double behind = now - start - nextOffset;
            return behind <= 0 ? 0 : 1 + (long) (behind / meanGapNanos);
        } finally {
            lock.unlock();
        }
    }

    private double gap() {
        return switch (distribution) {
            // The logarithm of a number from above 0 to 1.
            case POISSON -> -Math.log(1 - random.nextDouble()) * meanGapNanos;
            case CONSTANT -> meanGapNanos;
        };
    }
}
