// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.soak;

import gatun.jmh.Median;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Tells whether the resources that a server holds grow with time: compares the second quarter of a test with the last
 * one, by their medians. The first is left out, since pools fill and code is compiled then.
 */
final class Growth {
    /** Fewer samples tell nothing. */
    private static final int LEAST_SAMPLES = 8;

    /** The share by which a value may grow, beside its own slack. */
    private static final double SLACK = 0.10;

    private Growth() {}

    /** The values that have grown too much, a line each; empty when none has. */
    static List<String> of(List<Sample> samples) {
        List<String> grown = new ArrayList<>();
        if (samples.size() >= LEAST_SAMPLES) {
            check(grown, samples, "heap after collection, MiB", 8, sample -> sample.vitals()
                    .heapMib());
            check(grown, samples, "resident memory, MiB", 32, sample -> sample.vitals()
                    .residentMib());
            check(grown, samples, "descriptors", 8, sample -> sample.vitals().descriptors());
            check(grown, samples, "threads", 8, sample -> sample.vitals().threads());
        }
        return grown;
    }

    private static void check(
            List<String> grown, List<Sample> samples, String what, double slack, ToDoubleFunction<Sample> value) {
        int quarter = samples.size() / 4;
        double before = Median.of(samples.subList(quarter, 2 * quarter), value);
        double after = Median.of(samples.subList(samples.size() - quarter, samples.size()), value);
        if (after > before * (1 + SLACK) + slack) {
            grown.add(String.format(
                    Locale.ROOT, "%s: %.1f in the second quarter, %.1f in the last", what, before, after));
        }
    }
}
