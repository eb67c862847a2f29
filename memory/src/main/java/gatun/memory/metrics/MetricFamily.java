// SPDX-License-Identifier: Apache-2.0
package gatun.memory.metrics;

/**
 * A family of metrics.
 *
 * @param name the name of its lines in Prometheus' text format; that of a summary, a histogram or an info without what
 *     each line adds
 * @param kind the kind of its values
 * @param help its meaning; empty for none
 */
public record MetricFamily(String name, Kind kind, String help) {
    /** The kind of a family's values. */
    public enum Kind {
        /** Sums that only grow. */
        COUNTER("counter"),
        /** Values of this moment. */
        GAUGE("gauge"),
        /** Counts of observations up to some bounds. */
        HISTOGRAM("histogram"),
        /** Quantiles of observations. */
        SUMMARY("summary"),
        /** Texts, as labels. */
        INFO("info");

        private final String word;

        Kind(String word) {
            this.word = word;
        }

        /** Its name in the text formats. */
        public String word() {
            return word;
        }
    }

    /** A family of counters. */
    public static MetricFamily counter(String name, String help) {
        return new MetricFamily(name, Kind.COUNTER, help);
    }

    /** A family of gauges. */
    public static MetricFamily gauge(String name, String help) {
        return new MetricFamily(name, Kind.GAUGE, help);
    }
}
