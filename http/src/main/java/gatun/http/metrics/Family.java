// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

/**
 * A family of the metrics page: the head of its lines.
 *
 * @param name the name of its lines in Prometheus' text format; that of a summary, a histogram or an info without what
 *     each line adds
 * @param kind what its values are
 * @param help what it means; nothing is said where this is empty
 */
record Family(String name, Kind kind, String help) {
    /** What the values of a family are. */
    enum Kind {
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

        /** Its name in both formats. */
        String word() {
            return word;
        }
    }

    static Family counter(String name, String help) {
        return new Family(name, Kind.COUNTER, help);
    }

    static Family gauge(String name, String help) {
        return new Family(name, Kind.GAUGE, help);
    }
}
