// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import gatun.runtime.placement.RunPlacement.RunTimeEstimator.Trust;

/**
 * Decides on which thread a run is. All rules about that are here; whoever asks tells the facts. Immutable, but for
 * what its {@linkplain #inlineRuns() limiter} counts; thread-safe.
 *
 * <table>
 * <caption>Where a run may be</caption>
 * <tr><th>place</th><th>costs</th><th>decided by</th></tr>
 * <tr><td>the request's own thread, by an idle instance that is lent to it</td><td>no wake-up, and a carrier while it
 *     lasts</td><td>{@link #lendsInstances}, {@link #mayBorrow}, {@link #inlineRuns}</td></tr>
 * <tr><td>the same where the thread is a gRPC connection's reader</td><td>no wake-up for the call either; the client is
 *     not heard meanwhile</td><td>{@link #runsOnReader}</td></tr>
 * <tr><td>the same where the thread reads the requests of many HTTP connections</td><td>no wake-up for the request
 *     either; other connections wait</td><td>{@link #runsOnSharedReader}</td></tr>
 * <tr><td>the same where the thread is that of lanes</td><td>no wake-up for the request either; other lanes
 *     wait</td><td>{@link #runsWhereFound}</td></tr>
 * <tr><td>the thread of an instance that is awake</td><td>the end of the runs before</td>
 *     <td>{@link #isWakingDearer}, {@link #hasWaitedLong}</td></tr>
 * <tr><td>the thread of an idle instance</td><td>two wake-ups</td><td>otherwise</td></tr>
 * </table>
 *
 * A run by an engine in another process begins at one of these, too, and waits there for that process: which models
 * have one is the operator's choice and none of these rules'. Loans that last are ended by the {@link LoanWatchdog}.
 */
public final class RunPlacement {
    /**
     * About the time to wake a thread on another core: 5 us on bare metal, up to 50 us in a virtual machine. Not
     * measured, as it only tells far shorter runs from far longer ones; in between both ways cost about the same, and
     * {@link #WATCH_NANOS} bounds a wrong guess.
     */
    public static final long WAKING_NANOS = 20_000;

    /** How often an idle instance looks at the queue while others run: a request's longest wait beside it. */
    public static final long WATCH_NANOS = 1_000_000;

    /** A run of so many wake-ups is hardly longer for one: a tenth. */
    private static final int LONG_BESIDE_WAKING = 10;

    /** The limit after which a request, or a connection, no longer waits behind short runs: five wake-ups. */
    static final long LONG_WAIT_NANOS = 5 * WAKING_NANOS;

    /** A gRPC connection's first calls show whether they come one at a time, an HTTP connection's whether they are short. */
    private static final int FIRST_CALLS = 4;

    /** So many calls must have been alone after some that were not; each time twice as many. */
    private static final int FEWEST_ALONE = 64;

    private static final int MOST_ALONE = 1 << 12;

    private final boolean adaptive;
    private final InlineRunLimiter inlineRuns;

    /** For tests; if not adaptive, each run is on its instance's thread, each request wakes one, no reader is lent. */
    public RunPlacement(boolean adaptive, InlineRunLimiter inlineRuns) {
        this.adaptive = adaptive;
        this.inlineRuns = inlineRuns;
    }

    /** The placement that counts with all others of this JVM. */
    public static RunPlacement of(boolean adaptive) {
        return new RunPlacement(adaptive, InlineRunLimiter.OF_THIS_JVM);
    }

    /** Limits the runs on request threads, of all models. */
    public InlineRunLimiter inlineRuns() {
        return inlineRuns;
    }

    /** Whether a model's idle instances are lent to requests' threads: where no request may have to wait for others. */
    public boolean lendsInstances(boolean ordered, long maxQueueDelayNanos) {
        return adaptive && !ordered && maxQueueDelayNanos == 0;
    }

    /**
     * Whether an idle instance of a model that {@linkplain #lendsInstances lends} may be lent to a request's thread.
     * Where requests share {@code batches}, a run long beside a wake-up begins at once only for requests that have not
     * come together of late: others gather while a thread wakes. For short runs one instance is lent while all are
     * idle: while it runs, those who come may share a batch.
     */
    public boolean mayBorrow(RunTimeEstimator times, boolean batches, boolean allIdle, boolean haveCompany) {
        boolean isLong = times.typicalNanos() > LONG_BESIDE_WAKING * WAKING_NANOS;
        return times.areWithin(RunTimeEstimator.LONG_NANOS) && (!batches || (isLong ? !haveCompany : allIdle));
    }

    /**
     * Whether the {@code batches} that wait are left to {@code awake} instances, which come to them before an idle one
     * could be awake. Only while an idle one is {@code watched}, looking from time to time, since runs vary.
     */
    public boolean isWakingDearer(RunTimeEstimator times, int batches, int awake, boolean watched) {
        return adaptive && watched && times.typicalNanos() * batches < WAKING_NANOS * awake;
    }

    /** Whether a request that has waited for {@code nanos} shows that the instances that are awake do not keep up. */
    public boolean hasWaitedLong(long nanos) {
        return nanos > LONG_WAIT_NANOS;
    }

    /** The trust that the calls of a gRPC connection come one at a time. */
    public Trust newReaderTrust() {
        return new Trust(FIRST_CALLS, FEWEST_ALONE, MOST_ALONE);
    }

    /**
     * Whether a gRPC call runs on the thread that has read it, which pays where the client waits for each response
     * before its next request: {@code alone}, with no other call under way and nothing more sent. The connection's
     * {@code trust} learns from it.
     */
    public boolean runsOnReader(boolean alone, Trust trust) {
        if (!alone) {
            trust.disprove();
            return false;
        }
        if (trust.isEarned()) {
            return adaptive;
        }
        trust.confirm();
        return false;
    }

    /** An estimate of how long the requests of an HTTP connection keep a thread, before there was any. */
    public RunTimeEstimator newConnectionTimes() {
        return new RunTimeEstimator(LONG_WAIT_NANOS, FIRST_CALLS);
    }

    /**
     * Whether complete requests of an HTTP connection are answered by the thread that reads many connections; {@code
     * times} are from their first byte to the response.
     */
    public boolean runsOnSharedReader(RunTimeEstimator times) {
        return adaptive && times.areWithin(LONG_WAIT_NANOS);
    }

    /**
     * Whether a thread of lanes does a request itself, though it serves other lanes too: one shorter than a wake-up
     * always, a short one if {@code alone}: it has had requests of one lane only of late, and no other waits. {@code
     * wholeNanos} is what such requests take in all on such a thread, 0 if not known.
     */
    public boolean runsWhereFound(RunTimeEstimator engine, long wholeNanos, boolean alone) {
        long limit = alone ? RunTimeEstimator.SHORT_NANOS : WAKING_NANOS;
        return adaptive && wholeNanos <= limit && engine.areWithin(limit);
    }

    /** An estimate of a model's next run from past runs. Guarded by the lock of the scheduler that owns it. */
    public static final class RunTimeEstimator {
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
}
