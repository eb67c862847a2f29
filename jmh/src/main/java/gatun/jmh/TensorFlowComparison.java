// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import java.util.Locale;

/**
 * The ways of {@link TensorFlowRunBenchmark} in turn in one process, a hundred runs of each at a time, so that a
 * machine that is busy with other things is so for all of them: the medians, and the median of the ratios of
 * neighbours.
 *
 * <p>Arguments: turns (default 300).
 */
public final class TensorFlowComparison {
    private static final int RUNS = TensorFlowRunBenchmark.LOOP;
    private static final int[] SIZES = {1, 262_144};

    /** Some way to run the model. */
    private interface Way {
        void run() throws Throwable;
    }

    private TensorFlowComparison() {}

    /** Measures. */
    public static void main(String[] arguments) throws Throwable {
        int turns = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 300;
        System.out.printf(
                Locale.ROOT,
                "%10s %16s %16s %16s %20s %20s%n",
                "elements",
                "bare C loop, ns",
                "C requests, ns",
                "backend, ns",
                "of the C requests",
                "of the bare loop");
        for (int elements : SIZES) {
            TensorFlowRunBenchmark benchmark = new TensorFlowRunBenchmark();
            benchmark.elements = elements;
            benchmark.open();
            try {
                compare(benchmark, Math.max(1, turns / 2));
                System.out.println(compare(benchmark, turns));
            } finally {
                benchmark.close();
            }
        }
    }

    private static String compare(TensorFlowRunBenchmark benchmark, int turns) throws Throwable {
        double[] bare = new double[turns];
        double[] requests = new double[turns];
        double[] backend = new double[turns];
        double[] ofRequests = new double[turns];
        double[] ofBare = new double[turns];
        for (int i = 0; i < turns; i++) {
            bare[i] = nanos(benchmark::cLoop);
            backend[i] = nanos(() -> {
                for (int run = 0; run < RUNS; run++) {
                    benchmark.backend();
                }
            });
            requests[i] = nanos(benchmark::cRequests);
            ofRequests[i] = backend[i] / requests[i];
            ofBare[i] = backend[i] / bare[i];
        }
        return String.format(
                Locale.ROOT,
                "%10d %16.0f %16.0f %16.0f %20.2f %20.2f",
                benchmark.elements,
                Median.of(bare),
                Median.of(requests),
                Median.of(backend),
                Median.of(ofRequests),
                Median.of(ofBare));
    }

    /** The time of one run in nanoseconds: the mean of a hundred. */
    private static double nanos(Way way) throws Throwable {
        long begin = System.nanoTime();
        way.run();
        return (System.nanoTime() - begin) / (double) RUNS;
    }
}
