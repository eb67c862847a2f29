// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.runtime.CacheLatencies;
import gatun.runtime.Latencies;
import gatun.runtime.ModelLatencies;
import gatun.runtime.Origin;
import gatun.runtime.StageLatencies;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The latencies of models as summaries and histograms, for the metrics page. Immutable. */
final class LatencyFamilies {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final String FIRST_RESPONSE = "nv_inference_first_response_histogram_ms";

    /** Triton's bounds where the configuration names none, in milliseconds. */
    private static final List<Double> FIRST_RESPONSE_BOUNDS = List.of(100.0, 500.0, 2000.0, 5000.0);

    /** In microseconds. */
    private static final List<Double> DURATION_BOUNDS =
            List.of(50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7);

    /** A stage of a request: its name in the names of metrics, its meaning, and its latencies. */
    private record Stage(String name, String meaning, Function<StageLatencies, Latencies> latencies) {}

    private static final Stage REQUEST = new Stage("request", "request handling", StageLatencies::request);

    private static final List<Stage> STAGES = List.of(
            REQUEST,
            new Stage("queue", "queuing", StageLatencies::queue),
            new Stage("compute_input", "compute input", StageLatencies::computeInput),
            new Stage("compute_infer", "compute inference", StageLatencies::computeInfer),
            new Stage("compute_output", "compute output", StageLatencies::computeOutput));

    private final LatencyMetrics wanted;
    private final ModelLabels labels;

    LatencyFamilies(LatencyMetrics wanted, ModelLabels labels) {
        this.wanted = wanted;
        this.labels = labels;
    }

    /** Whether latencies are shown as counters too. */
    boolean counters() {
        return wanted.counters();
    }

    /** Whether there is any family. */
    boolean any() {
        return wanted.summaries() || wanted.histograms();
    }

    /** Writes the families that are wanted. */
    void writeTo(FamilyWriter families, List<ModelLatencies> models) throws IOException {
        if (wanted.summaries()) {
            List<ModelLatencies> cached =
                    models.stream().filter(model -> model.cache().isPresent()).toList();
            for (Stage stage : STAGES) {
                // Of cached models, Triton's requests are summaries of those that missed the cache only, and are not
                // shown.
                List<ModelLatencies> told = stage.equals(REQUEST)
                        ? models.stream()
                                .filter(model -> model.cache().isEmpty())
                                .toList()
                        : models;
                if (!told.isEmpty()) {
                    families.add(summary(stage, told));
                }
            }
            if (!cached.isEmpty()) {
                families.add(cacheSummary(
                        "nv_cache_hit_summary_per_model",
                        "Quantiles of the duration of response cache hits in microseconds, since the model was loaded",
                        CacheLatencies::hit,
                        cached));
                families.add(cacheSummary(
                        "nv_cache_miss_summary_per_model",
                        "Quantiles of the duration of response cache misses in microseconds, since the model was loaded",
                        CacheLatencies::miss,
                        cached));
            }
        }
        if (wanted.histograms()) {
            for (Stage stage : STAGES) {
                families.add(histogram(stage, models));
            }
            families.add(byOrigin(models));
            families.add(firstResponse(models));
        }
    }

    private MetricSnapshot summary(Stage stage, List<ModelLatencies> models) {
        SummarySnapshot.Builder summary = SummarySnapshot.builder()
                .name("nv_inference_" + stage.name() + "_summary_us")
                .help("Quantiles of inference " + stage.meaning()
                        + " duration in microseconds, since the model was loaded");
        for (ModelLatencies model : models) {
            summary.dataPoint(quantiles(model, stage.latencies().apply(model.total())));
        }
        return summary.build();
    }

    private MetricSnapshot cacheSummary(
            String name, String help, Function<CacheLatencies, Latencies> part, List<ModelLatencies> models) {
        SummarySnapshot.Builder summary = SummarySnapshot.builder().name(name).help(help);
        for (ModelLatencies model : models) {
            model.cache().ifPresent(cache -> summary.dataPoint(quantiles(model, part.apply(cache))));
        }
        return summary.build();
    }

    private SummaryDataPointSnapshot quantiles(ModelLatencies model, Latencies latencies) {
        List<Quantile> quantiles = new ArrayList<>();
        for (double quantile : wanted.quantiles()) {
            quantiles.add(new Quantile(quantile, latencies.quantileNanos(quantile) / NANOS_PER_MICRO));
        }
        return SummaryDataPointSnapshot.builder()
                .labels(labels(model))
                .count(latencies.count())
                .sum(latencies.sumNanos() / NANOS_PER_MICRO)
                .quantiles(Quantiles.of(quantiles))
                .build();
    }

    private MetricSnapshot histogram(Stage stage, List<ModelLatencies> models) {
        String name = "nv_inference_" + stage.name() + "_duration_histogram_us";
        HistogramSnapshot.Builder histogram = HistogramSnapshot.builder()
                .name(name)
                .help("Inference " + stage.meaning() + " duration in microseconds");
        for (ModelLatencies model : models) {
            histogram.dataPoint(point(
                    stage.latencies().apply(model.total()),
                    labels(model),
                    model.bucketBounds().getOrDefault(name, DURATION_BOUNDS),
                    NANOS_PER_MICRO));
        }
        return histogram.build();
    }

    private MetricSnapshot byOrigin(List<ModelLatencies> models) {
        HistogramSnapshot.Builder histogram = HistogramSnapshot.builder()
                .name("gatun_inference_stage_duration_us")
                .help("Duration of each stage of an inference in microseconds, by protocol and transport");
        for (ModelLatencies model : models) {
            for (Map.Entry<Origin, StageLatencies> origin : model.byOrigin().entrySet()) {
                Labels labels = labels(model)
                        .add("protocol", origin.getKey().protocol())
                        .add("transport", origin.getKey().transport());
                for (Stage stage : STAGES) {
                    histogram.dataPoint(point(
                            stage.latencies().apply(origin.getValue()),
                            labels.add("stage", stage.name()),
                            DURATION_BOUNDS,
                            NANOS_PER_MICRO));
                }
            }
        }
        return histogram.build();
    }

    private MetricSnapshot firstResponse(List<ModelLatencies> models) {
        HistogramSnapshot.Builder histogram = HistogramSnapshot.builder()
                .name(FIRST_RESPONSE)
                .help("Duration from request to first response in milliseconds");
        for (ModelLatencies model : models) {
            histogram.dataPoint(point(
                    firstResponses(model),
                    labels(model),
                    model.bucketBounds().getOrDefault(FIRST_RESPONSE, FIRST_RESPONSE_BOUNDS),
                    NANOS_PER_MILLI));
        }
        return histogram.build();
    }

    /** For a model of one response to each request, that response is the first; some come from the cache. */
    private static Latencies firstResponses(ModelLatencies model) {
        StageLatencies total = model.total();
        if (model.decoupled()) {
            return total.firstResponse();
        }
        return model.cache().map(cache -> total.request().plus(cache.hit())).orElse(total.request());
    }

    /**
     * A histogram whose sum is in whole units, as clients of Triton's read it.
     *
     * @param bounds ascending, in the unit of the metric, of {@code unitNanos} each
     */
    private static HistogramDataPointSnapshot point(
            Latencies latencies, Labels labels, List<Double> bounds, double unitNanos) {
        List<Double> uppers = new ArrayList<>(bounds);
        List<Long> counts = new ArrayList<>();
        long below = 0;
        for (double bound : bounds) {
            long upTo = latencies.countUpTo((long) (bound * unitNanos));
            counts.add(upTo - below);
            below = upTo;
        }
        uppers.add(Double.POSITIVE_INFINITY);
        counts.add(latencies.count() - below);
        return HistogramDataPointSnapshot.builder()
                .labels(labels)
                .classicHistogramBuckets(ClassicHistogramBuckets.of(uppers, counts))
                .sum(Math.floor(latencies.sumNanos() / unitNanos))
                .build();
    }

    private Labels labels(ModelLatencies model) {
        return labels.of(model.model(), model.version());
    }
}
