// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import gatun.spi.ModelMetrics;
import java.util.List;
import java.util.Map;

/**
 * A family of metrics with their present values.
 *
 * @param name its name on the metrics page
 * @param description what it means
 * @param kind what its values are
 * @param values one for each set of labels
 */
public record MetricFamily(String name, String description, ModelMetrics.Kind kind, List<MetricValue> values) {

    /**
     * The present value of a metric.
     *
     * @param labels its labels
     * @param value the value of a counter or gauge, the sum of a histogram's observations
     * @param bounds the upper bounds of a histogram's buckets but the last, which has none; empty for other kinds
     * @param counts the observations in each bucket, those of smaller ones not included; one more than bounds
     */
    public record MetricValue(Map<String, String> labels, double value, List<Double> bounds, List<Long> counts) {}
}
