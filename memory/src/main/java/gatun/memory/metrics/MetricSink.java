// SPDX-License-Identifier: Apache-2.0
package gatun.memory.metrics;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Takes families of metrics with their present values, one family after the other: {@link #begin} and then the family's
 * values, in the order of their labels. A family without values leaves no trace. For one reading, by one thread.
 */
public interface MetricSink {
    /** Begins a family, whose values come next. */
    void begin(MetricFamily family);

    /** Takes a value of a counter or gauge. */
    void value(Labels labels, double value);

    /** Takes the labels of an info. */
    void info(Labels labels);

    /**
     * Takes a summary.
     *
     * @param quantiles the quantiles, each from 0 to 1
     * @param values the value of each quantile
     */
    void summary(Labels labels, List<Double> quantiles, double[] values, long count, double sum);

    /**
     * Takes a histogram.
     *
     * @param bounds the upper bounds of its buckets but the last, which has none
     * @param counts how many observations each bucket and those below have together; one more than bounds
     * @param sum the sum of all observations
     */
    void histogram(Labels labels, List<Double> bounds, long[] counts, double sum);

    /** Takes a family that has one value, and no labels. */
    default void add(MetricFamily single, double value) {
        begin(single);
        value(Labels.NONE, value);
    }

    /** Takes a family with a value for each of {@code rows}. */
    default <T> void add(Measure<T> measure, MetricRows<T> rows) {
        begin(measure.family());
        for (MetricRows.Row<T> row : rows) {
            value(row.labels(), measure.value().applyAsDouble(row.subject()));
        }
    }

    /** Takes families, each with a value for each of {@code rows}. */
    default <T> void addAll(List<Measure<T>> measures, MetricRows<T> rows) {
        for (Measure<T> measure : measures) {
            add(measure, rows);
        }
    }

    /** The owner of some families. */
    @FunctionalInterface
    interface MetricSource {
        /** Gives {@code sink} its families with their present values. */
        void publish(MetricSink sink);
    }

    /** A family of counters or gauges, and its present value for a subject: a model version, a GPU. */
    record Measure<T>(MetricFamily family, ToDoubleFunction<T> value) {
        /** A counter of each subject. */
        public static <T> Measure<T> counter(String name, String help, ToDoubleFunction<T> value) {
            return new Measure<>(MetricFamily.counter(name, help), value);
        }

        /** A gauge of each subject. */
        public static <T> Measure<T> gauge(String name, String help, ToDoubleFunction<T> value) {
            return new Measure<>(MetricFamily.gauge(name, help), value);
        }
    }
}
