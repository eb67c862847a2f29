// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.runtime.metrics.MetricFamily;
import gatun.runtime.metrics.MetricValue;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.List;
import java.util.Map;

/** Families of metrics that models and backends have made themselves. */
final class ModelMadeFamilies {
    private ModelMadeFamilies() {}

    static MetricSnapshot gauge(MetricFamily family) {
        GaugeSnapshot.Builder gauge =
                GaugeSnapshot.builder().name(family.name()).help(family.description());
        family.values()
                .forEach(value -> gauge.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                        .labels(labels(value.labels()))
                        .value(value.value())
                        .build()));
        return gauge.build();
    }

    static MetricSnapshot histogram(MetricFamily family) {
        HistogramSnapshot.Builder histogram =
                HistogramSnapshot.builder().name(family.name()).help(family.description());
        family.values()
                .forEach(value -> histogram.dataPoint(HistogramSnapshot.HistogramDataPointSnapshot.builder()
                        .labels(labels(value.labels()))
                        .sum(value.value())
                        .classicHistogramBuckets(buckets(value))
                        .build()));
        return histogram.build();
    }

    private static ClassicHistogramBuckets buckets(MetricValue value) {
        ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
        for (int i = 0; i < value.bounds().size(); i++) {
            buckets.bucket(value.bounds().get(i), value.counts().get(i));
        }
        buckets.bucket(Double.POSITIVE_INFINITY, value.counts().getLast());
        return buckets.build();
    }

    static List<MetricsPage.Point> points(MetricFamily family) {
        return family.values().stream()
                .map(value -> new MetricsPage.Point(labels(value.labels()), value.value()))
                .toList();
    }

    private static Labels labels(Map<String, String> labels) {
        Labels.Builder builder = Labels.builder();
        labels.forEach(builder::label);
        return builder.build();
    }
}
