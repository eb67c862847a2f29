// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

/** An estimate of a model's next run, made from its past runs. Guarded by the lock of the scheduler that owns it. */
final class RunTimes {
    /** A typical run up to this is short: others may wait for the thread that it is on. */
    static final long SHORT_NANOS = 1_000_000;

    /**
     * A run beyond this is long: to hand it to another thread and back costs nothing beside it. It was not just
     * interrupted by the operating system, which is in the middle of short ones too.
     */
    static final long LONG_NANOS = 20_000_000;

    /** How many runs that are not long are asked for at first, and at most. */
    static final int FIRST_TRIAL = 16;

    static final int LAST_TRIAL = 1 << 16;

    /** The weight of one run in the average, as a power of two: 1/8. */
    private static final int TYPICAL_SHIFT = 3;

    /** How many times the average a run counts at most, so that one outlier says little. */
    private static final int OUTLIER = 4;

    private long typicalNanos;
    private int trial = FIRST_TRIAL;
    private int trialLeft = FIRST_TRIAL;

    /** @param typicalNanos the estimate before the first run */
    RunTimes(long typicalNanos) {
        this.typicalNanos = typicalNanos;
    }

    /** Notes a run. */
    void ran(long nanos) {
        long counted = Math.min(nanos, OUTLIER * typicalNanos + 1000);
        typicalNanos += (counted - typicalNanos) >> TYPICAL_SHIFT;
        if (nanos < LONG_NANOS) {
            trialLeft -= trialLeft > 0 ? 1 : 0;
        } else {
            trial = trialLeft == 0 ? Math.min(2 * trial, LAST_TRIAL) : trial;
            trialLeft = trial;
        }
    }

    /** A moving average of how long a run takes. */
    long typicalNanos() {
        return typicalNanos;
    }

    /**
     * Whether the next run will take at most {@code nanos}, as far as anybody can tell. Whenever a
     * {@linkplain #LONG_NANOS long} one disproves it, it takes twice as many runs as before to be believed again.
     */
    boolean areWithin(long nanos) {
        return trialLeft == 0 && typicalNanos <= nanos;
    }
}
