// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.Arrays;

/**
 * Keeps a batch for a moment where that has shown to make responses come sooner. Callers who ask again as soon as they
 * are answered come back within moments of one another. Without it the first of them is run at once, and alone, and all
 * others wait for that. How many to expect, the last runs tell: those that they were for, and those that waited meanwhile.
 *
 * <p>Whether it pays is found by trying: runs with and without it in turns, by the time from a ticket's coming to its
 * end, which includes the wait. Where one ticket follows the other nobody is expected and nothing is tried, nor where
 * runs are short, or where the policy says how long to wait. Guarded by the lock of the scheduler that owns it.
 */
final class Gathering {
    /** Shorter runs are over before others could have come. */
    static final long SHORTEST_RUN_NANOS = 100_000;

    /** The share of a typical run that a batch is kept at most, as a power of two: 1/4. */
    private static final int KEEP_SHIFT = 2;

    /** The longest that a batch is kept: within it callers on the same machine, or near it, are back. */
    static final long LONGEST_NANOS = 2_000_000;

    /** Of so many runs the greatest tells how many to expect: callers do not meet in each of them. */
    private static final int RECENT = 4;

    /** A run that had company counts so much more than one that had not. */
    private static final int COMPANY_GAIN = 4;

    /** What runs that had company must count together for trials. */
    static final int COMPANY = 64;

    private static final int MOST_COMPANY = 2 * COMPANY;

    /** Runs of one trial; the first show what the runs before have left, and do not count. */
    static final int TRIAL_RUNS = 8;

    private static final int SETTLING_RUNS = 2;

    /** Trials with it, and as many without: a disturbed one does not change the median. */
    static final int TRIALS = 7;

    /** How many runs follow the first trials, each later time twice as many, and at most. */
    static final int FIRST_RUNS = 1 << 9;

    private static final int MOST_RUNS = 1 << 14;

    /** It is to be worth the wait for those whom it does not help. */
    private static final double BETTER = 0.97;

    private final int maxBatchSize;
    private final boolean mayKeep;
    private Run[] running = new Run[0];

    /** The last numbers of tickets that came together. */
    private final int[] recent = new int[RECENT];

    private int next;
    private int expected;
    private long endedNanos;
    private long keepNanos;
    private int company;

    // The tickets that are kept at present.
    private boolean isKeeping;
    private long keptUntil;

    /** By the powers of two that numbers of expected tickets come up to: what pays for two need not pay for eight. */
    private final Trials[] trials = new Trials[Integer.SIZE];

    /** What an instance runs. */
    private static final class Run {
        private int size;
        private int tickets;
        private long waitedNanos;
    }

    /** @param policy tells whether there are batches, and whether somebody has said how long to keep them */
    Gathering(BatchPolicy policy) {
        maxBatchSize = policy.maxBatchSize();
        mayKeep = maxBatchSize > 1 && policy.maxQueueDelayNanos() == 0;
    }

    /** Whether a ticket that comes alone is to wait for others. */
    boolean expectsMoreThan(int size) {
        return size < expected && keepNanos > 0 && keeps();
    }

    /** Whether tickets have often waited for the same instances of late, or were run together. */
    boolean hasCompany() {
        return company >= COMPANY;
    }

    private boolean keeps() {
        Trials about = trials();
        return (hasCompany() && about.isTrying()) ? about.keeps() : about.pays;
    }

    private Trials trials() {
        int index = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(0, expected - 1));
        if (trials[index] == null) {
            trials[index] = new Trials();
        }
        return trials[index];
    }

    /** For how long a ticket may be expected that does not come alone, from {@code now} on; 0 when none is. */
    long comingNanos(long now) {
        return expectsMoreThan(1) ? Math.max(0, endedNanos + keepNanos - now) : 0;
    }

    /**
     * For how long tickets of {@code size} together are kept for others from {@code now} on; 0 when they are not.
     * Whatever ends while they are kept, they are not kept for longer.
     */
    long keepNanos(int size, long now) {
        if (!expectsMoreThan(size)) {
            return 0;
        }
        if (!isKeeping) {
            isKeeping = true;
            keptUntil = endedNanos + keepNanos;
        }
        return Math.max(0, keptUntil - now);
    }

    /**
     * An instance begins a run.
     *
     * @param size the sizes of its tickets together
     * @param tickets how many they are
     * @param waitedNanos how long they have waited, together
     */
    void begun(int instance, int size, int tickets, long waitedNanos) {
        if (mayKeep) {
            isKeeping = false;
            Run run = run(instance);
            run.size = size;
            run.tickets = tickets;
            run.waitedNanos = waitedNanos;
        }
    }

    private Run run(int instance) {
        int known = running.length;
        if (instance >= known) {
            running = Arrays.copyOf(running, instance + 1);
            for (int i = known; i <= instance; i++) {
                running[i] = new Run();
            }
        }
        return running[instance];
    }

    /**
     * An instance has ended a run.
     *
     * @param nanos how long it took
     * @param typicalNanos how long runs take on the average
     * @param waiting how many tickets wait
     */
    void ended(int instance, long nanos, long typicalNanos, int waiting, long now) {
        if (!mayKeep) {
            return;
        }
        Run run = run(instance);
        recent[next] = Math.min(maxBatchSize, run.size + waiting);
        next = (next + 1) % RECENT;
        expected = greatest(recent);
        endedNanos = now;
        keepNanos = typicalNanos < SHORTEST_RUN_NANOS ? 0 : Math.min(typicalNanos >> KEEP_SHIFT, LONGEST_NANOS);
        boolean isAlone = run.tickets + waiting < 2 || keepNanos == 0;
        company = isAlone ? Math.max(0, company - 1) : Math.min(MOST_COMPANY, company + COMPANY_GAIN);
        if (hasCompany()) {
            trials().ran(run.tickets, run.waitedNanos + run.tickets * nanos);
        }
    }

    private static int greatest(int[] numbers) {
        int greatest = 0;
        for (int number : numbers) {
            greatest = Math.max(greatest, number);
        }
        return greatest;
    }

    /** Whether it pays for about so many tickets. */
    private static final class Trials {
        /** What the last ones have shown. */
        private boolean pays;

        /** Runs before the next ones; 0 while there are some. */
        private int runsLeft;

        private int nextRuns = FIRST_RUNS;
        private final double[] with = new double[TRIALS];
        private final double[] without = new double[TRIALS];

        // The one under way.
        private int trial;
        private int runs;
        private long nanos;
        private long tickets;

        boolean isTrying() {
            return runsLeft == 0;
        }

        /** Whether the trial under way, which is each second one, keeps batches. */
        boolean keeps() {
            return trial % 2 == 1;
        }

        /** A run has ended, whose tickets took {@code tookNanos} together from their coming to their end. */
        void ran(int ranTickets, long tookNanos) {
            if (!isTrying()) {
                runsLeft--;
                return;
            }
            runs++;
            if (runs > SETTLING_RUNS) {
                nanos += tookNanos;
                tickets += ranTickets;
            }
            if (runs < TRIAL_RUNS) {
                return;
            }
            (keeps() ? with : without)[trial / 2] = (double) nanos / Math.max(1, tickets);
            runs = 0;
            nanos = 0;
            tickets = 0;
            trial++;
            if (trial == 2 * TRIALS) {
                choose();
            }
        }

        private void choose() {
            pays = median(with) < BETTER * median(without);
            trial = 0;
            runsLeft = nextRuns;
            nextRuns = Math.min(2 * nextRuns, MOST_RUNS);
        }

        private static double median(double[] trials) {
            Arrays.sort(trials);
            return trials[trials.length / 2];
        }
    }
}
