// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.Arrays;

/**
 * Learns by which {@link Spread} an instance's runs are over soonest. Runs of about the same size have a choice of
 * their own: at first each spread is tried for some runs in a row, in turns, and the one with the shortest median is
 * taken for the runs that follow, until it is time to try again. Used by one thread at a time.
 */
final class SpreadChoice {
    /**
     * How often each spread has its turn. Runs in a row are disturbed together, by a compiler's thread for example, so
     * that one of them counts, and more turns are better than more runs.
     */
    static final int TURNS = 5;

    /**
     * Of the runs in a row the last counts: each spread's session has weights of its own, and threads, and those of the
     * one that was used before are in the caches of the cores.
     */
    private static final int TURN = 3;

    /** All runs of each spread before one is chosen. */
    static final int RUNS = TURNS * TURN;

    /** How many runs follow the first trials; each later time twice as many. */
    static final int FIRST_RUNS = 512;

    /**
     * Trials of two spreads among so many runs are too few to be seen in a 99th percentile, and a choice that other
     * callers have taught does not last for minutes.
     */
    static final int MOST_RUNS = 1 << 13;

    /** A spread on fewer threads is taken when it takes at most so much longer, since others get its cores. */
    private static final double NEARLY = 1.03;

    /** Sizes from one power of two to the next have a choice of their own. */
    private static final int SIZES = Long.SIZE;

    private final Choice[] whole = new Choice[SIZES];
    private final Choice[] divided = new Choice[SIZES];

    /**
     * The spread for a run. Unless the run fails, {@link #took} follows.
     *
     * @param byteSize what its inputs take
     * @param divides whether it may be run in parts
     */
    Spread next(long byteSize, boolean divides) {
        return choice(byteSize, divides).next();
    }

    /** The last run that {@link #next} was asked for took so long. */
    void took(long byteSize, boolean divides, long nanos) {
        // Runs of one choice differ in size by up to a factor of two, and their times are nearly proportional to it.
        choice(byteSize, divides).took((double) nanos / Math.max(1, byteSize));
    }

    private Choice choice(long byteSize, boolean divides) {
        Choice[] choices = divides ? divided : whole;
        int index = SIZES - 1 - Long.numberOfLeadingZeros(Math.max(1, byteSize));
        if (choices[index] == null) {
            choices[index] = new Choice(divides);
        }
        return choices[index];
    }

    /** Of runs of one size. */
    private static final class Choice {
        private final Spread[] spreads;
        private final double[][] times;
        private Spread chosen = Spread.ON_ALL_CORES;
        private int trials;
        private int left;
        private int runs = FIRST_RUNS;

        Choice(boolean divides) {
            spreads = divides ? Spread.values() : new Spread[] {Spread.ON_A_SHARE, Spread.ON_ALL_CORES};
            times = new double[spreads.length][TURNS];
        }

        private boolean isTrying() {
            return left == 0;
        }

        Spread next() {
            return isTrying() ? spreads[turn() % spreads.length] : chosen;
        }

        void took(double time) {
            if (!isTrying()) {
                left--;
                return;
            }
            // The last of the turn stays.
            times[turn() % spreads.length][turn() / spreads.length] = time;
            trials++;
            if (turn() == spreads.length * TURNS) {
                choose();
            }
        }

        private int turn() {
            return trials / TURN;
        }

        private void choose() {
            double least = Double.MAX_VALUE;
            for (double[] taken : times) {
                Arrays.sort(taken);
                least = Math.min(least, taken[TURNS / 2]);
            }
            int first = 0;
            while (times[first][TURNS / 2] > least * NEARLY) {
                first++;
            }
            chosen = spreads[first];
            trials = 0;
            left = runs;
            runs = Math.min(2 * runs, MOST_RUNS);
        }
    }
}
