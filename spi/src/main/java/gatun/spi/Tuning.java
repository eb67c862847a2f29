// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tuning.Tuner;
import gatun.memory.tuning.Tuner.Trials;
import java.util.List;
import java.util.Locale;

/**
 * What a model version learns while it runs, as far as the operator lets it. Whoever has several ways to do the same, of
 * which none is the best for every model and machine, asks for a tuner here; what that finds is shown beside the model's
 * other choices. Tuners of one model try one after the other. Safe for any thread.
 */
public interface Tuning {
    /** Nothing is learned. */
    Tuning OFF = new Tuning() {
        @Override
        public boolean learns(Subject subject) {
            return false;
        }

        @Override
        public Tuner tuner(Subject subject, List<String> ways, Trials trials) {
            return Tuner.fixed(trials.usual());
        }

        @Override
        public void chose(Subject subject, List<String> ways, int way, double gain) {
            // Nobody learns here.
        }
    };

    /** What can be learned; the operator names a subject by {@link #word}. */
    enum Subject {
        /** Whether a batch is kept for callers who come back. */
        BATCHES,
        /** How a run that has the machine to itself is spread over the cores. */
        SPREAD,
        /** Whether a thread that waits for another process hands its core over. */
        CORES,
        /** Whether a run is short enough for the thread that brings its request. */
        THREADS;

        /** Its name on the command line, in metrics and in texts. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Whether {@code subject} is learned; where it is not, the usual way is taken always. */
    boolean learns(Subject subject);

    /**
     * A tuner for runs that are alike, which takes the usual way always where {@code subject} is not learned.
     *
     * @param ways what each way is called, such as {@code kept}, by its number
     */
    Tuner tuner(Subject subject, List<String> ways, Trials trials);

    /**
     * Notes what a tuner has chosen: one of this, or one of an engine in a process of its own.
     *
     * @param way the number of one of {@code ways}
     * @param gain what the usual way costs, divided by what the best other one does
     */
    void chose(Subject subject, List<String> ways, int way, double gain);
}
