// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The choice of metrics that are shown: the forms of latencies, and the greatest age of the values of the machine's
 * processors and memory; empty where they are not shown.
 */
public record ShownMetrics(LatencyMetrics latencies, Optional<Duration> hostInterval) {
    /** Triton's default. */
    public static final ShownMetrics STANDARD =
            new ShownMetrics(LatencyMetrics.STANDARD, Optional.of(Duration.ofSeconds(2)));

    /**
     * The forms in which the metrics show how long requests took: sums of microseconds, {@code quantiles} (0 to 1) over
     * all requests since the model was loaded, and counts of durations up to some bounds.
     */
    public record LatencyMetrics(boolean counters, boolean summaries, boolean histograms, List<Double> quantiles) {
        /** Triton's default: sums only; and the quantiles that it uses for summaries. */
        public static final LatencyMetrics STANDARD =
                new LatencyMetrics(true, false, false, List.of(0.5, 0.9, 0.95, 0.99, 0.999));

        /** Checks the quantiles and keeps a copy. */
        public LatencyMetrics {
            quantiles = List.copyOf(quantiles);
            for (double quantile : quantiles) {
                if (!(quantile >= 0 && quantile <= 1)) {
                    throw new IllegalArgumentException("the quantile " + quantile + " is not from 0 to 1");
                }
            }
        }
    }
}
