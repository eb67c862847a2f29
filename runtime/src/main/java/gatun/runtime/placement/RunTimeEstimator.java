// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

/** An estimate of a model's next run from past runs. Guarded by the lock of the scheduler that owns it. */
public final class RunTimeEstimator {
    /** A typical run up to this is short: shorter than a time slice, or decoding a large request. */
    public static final long SHORT_NANOS = 1_000_000;

    /** A run beyond this is long: a hand-over costs nothing beside it, and no interruption explains it. */
    public static final long LONG_NANOS = 20_000_000;

    /** How many runs that are not long are asked for at first. */
    public static final int FIRST_TRIAL = 16;

    /** How many are asked for at most: a model that is slow now and then is soon trusted no more. */
    static final int LAST_TRIAL = 1 << 16;

    /** The weight of one run in the average, as a power of two: 1/8. */
    private static final int TYPICAL_SHIFT = 3;

    /** How many times the average a run counts at most, so that one outlier says little. */
    private static final int OUTLIER = 4;

    /** What a run counts beyond that, so that an average of nothing can grow. */
    private static final long LEAST_STEP_NANOS = 1000;

    private final Trust trust;
    private long typicalNanos;

    /** @param typicalNanos the estimate before the first run */
    public RunTimeEstimator(long typicalNanos) {
        this(typicalNanos, FIRST_TRIAL);
    }

    /** {@code typicalNanos} before the first run; asks for {@code firstTrial} runs that are not long at first. */
    RunTimeEstimator(long typicalNanos, int firstTrial) {
        this.typicalNanos = typicalNanos;
        this.trust = new Trust(firstTrial, FIRST_TRIAL, LAST_TRIAL);
    }

    /** Notes a run. */
    public void record(long nanos) {
        average(nanos);
        if (nanos < LONG_NANOS) {
            trust.confirm();
        } else {
            trust.disprove();
        }
    }

    /** Notes some runs, each of which was {@linkplain #isExpected as expected}, by how long they took together. */
    public void record(int runs, long nanos) {
        for (int i = 0; i < runs; i++) {
            average(nanos / runs);
            trust.confirm();
        }
    }

    private void average(long nanos) {
        long counted = Math.min(nanos, mostExpected(typicalNanos));
        typicalNanos += (counted - typicalNanos) >> TYPICAL_SHIFT;
    }

    /** Whether a run tells so little new that it may be noted some time later, with others. */
    public static boolean isExpected(long nanos, long typicalNanos) {
        return nanos < LONG_NANOS && nanos <= mostExpected(typicalNanos);
    }

    private static long mostExpected(long typicalNanos) {
        return OUTLIER * typicalNanos + LEAST_STEP_NANOS;
    }

    /** A moving average of how long a run takes. */
    public long typicalNanos() {
        return typicalNanos;
    }

    /**
     * Whether the next run will take at most {@code nanos}, as far as anybody can tell. Whenever a
     * {@linkplain #LONG_NANOS long} one disproves it, it takes twice as many runs as before to be believed again.
     */
    public boolean areWithin(long nanos) {
        return trust.isEarned() && typicalNanos <= nanos;
    }

    /** Trust in a guess: agreeing cases earn it, and each miss doubles how many it takes. Not thread-safe. */
    public static final class Trust {
        private final int most;
        private int needed;
        private int missing;

        /**
         * No trust yet: {@code first} cases must agree at first, {@code again} after one that disagreed before there
         * was trust, twice as many after the first that disagreed later, {@code most} at most.
         */
        public Trust(int first, int again, int most) {
            this.most = most;
            needed = again;
            missing = first;
        }

        /** Whether the guess is trusted now. */
        public boolean isEarned() {
            return missing == 0;
        }

        /** A case agreed with the guess. */
        public void confirm() {
            if (missing > 0) {
                missing--;
            }
        }

        /** A case disagreed with the guess. */
        public void disprove() {
            if (missing == 0) {
                needed = Math.min(2 * needed, most);
            }
            missing = needed;
        }
    }
}
