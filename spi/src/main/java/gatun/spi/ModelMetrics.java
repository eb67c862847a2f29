// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.Hold;
import java.util.List;
import java.util.Map;

/** Metrics of models and backends, on the page of the server's own. Thread-safe. */
public interface ModelMetrics {
    /** What the values of a family are. */
    enum Kind {
        /** Only grows. */
        COUNTER,
        /** Goes up and down. */
        GAUGE,
        /** Counts observations by size. */
        HISTOGRAM
    }

    /**
     * The family of that name. All who ask for a name get the same family, with the description of the first; it leaves
     * the page when each has closed what it got.
     *
     * @param name of letters, digits, {@code _} and {@code :}, not beginning with a digit
     * @throws gatun.memory.tensor.GatunException INVALID_ARGUMENT for another name, when the family is of another kind, or
     *     when there are too many
     */
    Family family(String name, String description, Kind kind);

    /** A family that the caller has asked for, until it closes this. */
    interface Family extends Hold {
        /**
         * The metric with these labels; all who ask for them get the same.
         *
         * @param buckets the upper bounds of a histogram's buckets but the last, rising; empty for the other kinds
         * @throws gatun.memory.tensor.GatunException INVALID_ARGUMENT when labels or buckets are not right, or when
         *     there are too many metrics
         */
        Metric metric(Map<String, String> labels, List<Double> buckets);
    }

    /** A metric that the caller has asked for, until it closes this. Fails with UNSUPPORTED what its kind cannot. */
    interface Metric extends Hold {
        /** Adds to a counter or gauge; nothing below 0 to a counter. */
        void increment(double amount);

        /** Sets a gauge. */
        void set(double value);

        /** Counts an observation in a histogram. */
        void observe(double value);

        /** The present value of a counter or gauge. */
        double value();
    }
}
