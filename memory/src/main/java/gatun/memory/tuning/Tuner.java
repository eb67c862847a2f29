// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tuning;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Tries the ways to do the same, and keeps to the cheapest. Each has several turns of some runs in a row, of which the
 * first do not count, since they show what the way before has left in caches. The second cheapest turn of each decides,
 * so that disturbed ones change nothing. The result holds for some runs, longer each time that it is found again, and
 * shorter when its cost grows beyond the others' or falls far. Ways are numbers from 0; of two that cost nearly the
 * same the first is taken, so the one that leaves most to others comes first. Used by one thread at a time, but for
 * {@link #way}.
 */
public final class Tuner {
    /** How often each way has its turn before one is chosen. */
    public static final int TURNS = 5;

    /** The turn that counts, from the least cost on: the second of five. Disturbances only make turns dearer. */
    private static final int COUNTED_TURN = 1;

    /** An earlier way is taken when it costs at most so much more. */
    public static final double NEARLY = 1.03;

    /** A choice is in doubt when it costs so many times the next best, or so much less than it did. */
    private static final double DOUBTFUL = 1.25;

    /** The weight of one run in the mean while a choice holds, as a share. */
    private static final double WEIGHT = 1.0 / 16;

    /** A run counts for so many times that mean at most. */
    private static final double OUTLIER = 8;

    /**
     * What is tried: {@code usual} is the way until another shows to be better; the first {@code settling} runs of a
     * turn do not count, {@code counted}, one at least, do.
     */
    public record Trials(int ways, int usual, int settling, int counted) {
        /** How many runs there are before a way is chosen. */
        public int runs() {
            return TURNS * ways * (settling + counted);
        }

        /** How many runs follow trials that have changed the choice; twice as many each time that it is confirmed. */
        public int firstRest() {
            return 8 * runs();
        }

        /** With trials in one of a hundred runs, worse ways are too few to show in a 99th percentile. */
        public int longestRest() {
            return 100 * runs();
        }
    }

    /** Is told what a tuner has chosen; must return at once. */
    @FunctionalInterface
    public interface Listener {
        /** Trials have ended: {@code gain} is the cost of the usual way divided by that of the best other one. */
        void chose(int way, double gain);
    }

    private final Trials trials;
    private final TrialTurn turn;
    private final Listener listener;
    private final double[][] costs;
    private int way;
    private int chosen;

    // While a choice holds.
    /** For how many runs it does; 0 before the first. */
    private int rest;

    private int left;
    private int patience;
    private int heldFor;
    private double mean;
    private double doubtfulAbove = Double.MAX_VALUE;
    private double doubtfulBelow;

    // While ways are tried.
    private boolean trying;
    private int done;
    private double cost;
    private double weight;

    /** Has learned nothing; {@code turn} keeps others from trying at once, which would change what this measures. */
    public Tuner(Trials trials, TrialTurn turn, Listener listener) {
        this.trials = trials;
        this.turn = turn;
        this.listener = listener;
        costs = new double[trials.ways()][TURNS];
        way = trials.usual();
        chosen = way;
        patience = turnLength();
    }

    /** One that always takes the usual way. */
    public static Tuner fixed(int way) {
        return new Tuner(new Trials(1, way, 0, 1), new TrialTurn(), (chosen, gain) -> {});
    }

    /** The way of the next run. */
    public int way() {
        return way;
    }

    /** What was chosen last, which is the usual way before that; also while others are tried. */
    public int chosen() {
        return chosen;
    }

    /** Notes a run in the present {@link #way}: its cost, such as nanoseconds, and weight above 0, such as requests. */
    public void recordRun(double runCost, double runWeight) {
        if (trials.ways() == 1) {
            return;
        }
        if (trying) {
            tried(runCost, runWeight);
        } else {
            rested(runCost / runWeight);
        }
    }

    private void rested(double runCost) {
        left--;
        heldFor++;
        mean += mean == 0 ? runCost : WEIGHT * (Math.min(runCost, OUTLIER * mean) - mean);
        boolean inDoubt = heldFor >= patience && (mean > doubtfulAbove || mean < doubtfulBelow);
        if ((left < 0 || inDoubt) && turn.take(this)) {
            patience = inDoubt ? Math.min(2 * patience, trials.longestRest()) : patience;
            trying = true;
            done = 0;
            begin();
        }
    }

    private void begin() {
        way = done / turnLength() % trials.ways();
        cost = 0;
        weight = 0;
    }

    private int turnLength() {
        return trials.settling() + trials.counted();
    }

    private void tried(double runCost, double runWeight) {
        if (!turn.isOf(this)) {
            // Runs have been rare here, and another has taken the turn meanwhile.
            hold();
            return;
        }
        if (done % turnLength() >= trials.settling()) {
            cost += runCost;
            weight += runWeight;
        }
        done++;
        if (done % turnLength() != 0) {
            return;
        }
        int turns = done / turnLength() - 1;
        costs[turns % trials.ways()][turns / trials.ways()] = cost / weight;
        if (done < trials.runs()) {
            begin();
        } else {
            choose();
        }
    }

    private void choose() {
        double least = Double.MAX_VALUE;
        double leastUnusual = Double.MAX_VALUE;
        for (int i = 0; i < trials.ways(); i++) {
            Arrays.sort(costs[i]);
            least = Math.min(least, cost(i));
            leastUnusual = i == trials.usual() ? leastUnusual : Math.min(leastUnusual, cost(i));
        }
        int best = 0;
        while (cost(best) > least * NEARLY) {
            best++;
        }
        double next = Double.MAX_VALUE;
        for (int i = 0; i < trials.ways(); i++) {
            next = i == best ? next : Math.min(next, cost(i));
        }
        boolean isConfirmed = best == chosen && rest > 0;
        patience = isConfirmed ? patience : turnLength();
        rest = isConfirmed ? Math.min(2 * rest, trials.longestRest()) : trials.firstRest();
        chosen = best;
        doubtfulAbove = DOUBTFUL * next;
        doubtfulBelow = cost(best) / DOUBTFUL;
        turn.giveBack(this);
        hold();
        listener.chose(best, cost(trials.usual()) / leastUnusual);
    }

    private double cost(int ofWay) {
        return costs[ofWay][COUNTED_TURN];
    }

    private void hold() {
        trying = false;
        way = chosen;
        left = Math.max(rest, trials.firstRest());
        heldFor = 0;
        mean = 0;
    }

    /**
     * Lets one tuner of the same runs try at a time: trials of one would be taken for what the other does. One that
     * stops before the end of its trials loses the turn to the next. Thread-safe.
     */
    public static final class TrialTurn {
        /** A tuner whose trials have stood still while others asked for the turn so often has none to finish. */
        private static final int PATIENCE = 256;

        private final AtomicReference<@Nullable Tuner> holder = new AtomicReference<>();

        /** Refusals since the holder was seen; a lost update makes others wait a little longer. */
        private volatile int refused;

        /** A turn that nobody has. */
        public TrialTurn() {}

        /** Gives the turn to {@code tuner}, if nobody has it, or whoever has it does not go on. */
        @SuppressWarnings("NonAtomicVolatileUpdate") // a lost one does no harm
        boolean take(Tuner tuner) {
            Tuner present = holder.get();
            if (present != null && refused < PATIENCE) {
                refused++;
                return false;
            }
            refused = 0;
            return holder.compareAndSet(present, tuner);
        }

        @SuppressWarnings("ReferenceEquality") // a tuner is one object
        boolean isOf(Tuner tuner) {
            refused = 0;
            return holder.get() == tuner;
        }

        void giveBack(Tuner tuner) {
            holder.compareAndSet(tuner, null);
        }
    }
}
