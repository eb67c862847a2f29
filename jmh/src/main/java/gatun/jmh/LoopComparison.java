// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.spi.Execution;
import java.util.Locale;

/**
 * Runs of a model by a backend beside a loop in C that has the same library do the same, in turn in one process, so that
 * a machine that is busy with other things is so for both.
 *
 * @param loopMicros the median time of a run in C
 * @param backendMicros the median time of a run by the backend
 * @param ratio the median of the ratios of neighbours
 */
record LoopComparison(double loopMicros, double backendMicros, double ratio) {
    /** The columns of {@link #toString}. */
    static final String HEADING = String.format(Locale.ROOT, "%14s %14s %10s", "C loop, us", "backend, us", "ratio");

    /** A loop in C: runs the model so many times. */
    @FunctionalInterface
    interface Loop {
        void run(long count) throws Throwable;
    }

    /**
     * How long to measure.
     *
     * @param warmUp turns before those that count, until Java is compiled
     * @param count turns that count
     * @param runs runs of each side in a turn
     */
    record Turns(int warmUp, int count, int runs) {}

    /** Measures. */
    static LoopComparison measure(Loop loop, OpenInstance instance, Execution request, Turns turns) throws Throwable {
        double[] c = new double[turns.count];
        double[] backend = new double[turns.count];
        double[] ratios = new double[turns.count];
        int runs = turns.runs;
        for (int i = -turns.warmUp; i < turns.count; i++) {
            long begin = System.nanoTime();
            loop.run(runs);
            long middle = System.nanoTime();
            for (int run = 0; run < runs; run++) {
                instance.execute(request);
            }
            long end = System.nanoTime();
            if (i >= 0) {
                c[i] = (middle - begin) / 1e3 / runs;
                backend[i] = (end - middle) / 1e3 / runs;
                ratios[i] = backend[i] / c[i];
            }
        }
        return new LoopComparison(Median.of(c), Median.of(backend), Median.of(ratios));
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%14.2f %14.2f %10.3f", loopMicros, backendMicros, ratio);
    }
}
