// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import gatun.memory.metrics.Labels;
import gatun.memory.metrics.MetricFamily;
import gatun.memory.metrics.MetricRows;
import gatun.memory.metrics.MetricSink;
import gatun.runtime.Latencies;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelLatencies.CacheLatencies;
import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.metrics.ShownMetrics.LatencyMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** The latencies of models as summaries and histograms, under the names that Triton gives them. Immutable. */
final class LatencyFamilies {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_MILLI = 1e6;

    private static final MetricFamily BY_ORIGIN = histogram(
            "gatun_inference_stage_duration_us",
            "Duration of each stage of an inference in microseconds, by protocol and transport");
    private static final MetricFamily FIRST_RESPONSE = histogram(
            "nv_inference_first_response_histogram_ms", "Duration from request to first response in milliseconds");
    private static final MetricFamily CACHE_HIT = summary(
            "nv_cache_hit_summary_per_model",
            "Quantiles of the duration of response cache hits in microseconds, since the model was loaded");
    private static final MetricFamily CACHE_MISS = summary(
            "nv_cache_miss_summary_per_model",
            "Quantiles of the duration of response cache misses in microseconds, since the model was loaded");

    /** Triton's bounds where the configuration names none, in milliseconds. */
    private static final List<Double> FIRST_RESPONSE_BOUNDS = List.of(100.0, 500.0, 2000.0, 5000.0);

    /** In microseconds. */
    private static final List<Double> DURATION_BOUNDS =
            List.of(50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7);

    /** A stage of a request: its name where that is a label, its latencies, and its families. */
    private record Stage(
            String name, Function<StageLatencies, Latencies> latencies, MetricFamily summary, MetricFamily histogram) {
        Stage(String name, String meaning, Function<StageLatencies, Latencies> latencies) {
            this(
                    name,
                    latencies,
                    LatencyFamilies.summary(
                            "nv_inference_" + name + "_summary_us",
                            "Quantiles of inference " + meaning
                                    + " duration in microseconds, since the model was loaded"),
                    LatencyFamilies.histogram(
                            "nv_inference_" + name + "_duration_histogram_us",
                            "Inference " + meaning + " duration in microseconds"));
        }
    }

    private static final Stage REQUEST = new Stage("request", "request handling", StageLatencies::request);

    private static final List<Stage> STAGES = List.of(
            REQUEST,
            new Stage("queue", "queuing", StageLatencies::queue),
            new Stage("compute_input", "compute input", StageLatencies::computeInput),
            new Stage("compute_infer", "compute inference", StageLatencies::computeInfer),
            new Stage("compute_output", "compute output", StageLatencies::computeOutput));

    private final LatencyMetrics wanted;

    LatencyFamilies(LatencyMetrics wanted) {
        this.wanted = wanted;
    }

    private static MetricFamily summary(String name, String help) {
        return new MetricFamily(name, MetricFamily.Kind.SUMMARY, help);
    }

    private static MetricFamily histogram(String name, String help) {
        return new MetricFamily(name, MetricFamily.Kind.HISTOGRAM, help);
    }

    boolean counters() {
        return wanted.counters();
    }

    boolean any() {
        return wanted.summaries() || wanted.histograms();
    }

    void publish(MetricRows<ModelLatencies> models, MetricSink sink) {
        if (wanted.summaries()) {
            // Of cached models, Triton's requests are summaries of those that missed the cache only, and are not shown.
            MetricRows<ModelLatencies> uncached =
                    models.where(model -> model.cache().isEmpty());
            for (Stage stage : STAGES) {
                writeSummary(
                        stage.summary(),
                        stage.equals(REQUEST) ? uncached : models,
                        model -> Optional.of(model.total(stage.latencies())),
                        sink);
            }
            writeSummary(CACHE_HIT, models, model -> model.cache().map(CacheLatencies::hit), sink);
            writeSummary(CACHE_MISS, models, model -> model.cache().map(CacheLatencies::miss), sink);
        }
        if (wanted.histograms()) {
            for (Stage stage : STAGES) {
                writeHistogram(
                        stage.histogram(),
                        models,
                        DURATION_BOUNDS,
                        NANOS_PER_MICRO,
                        model -> model.total(stage.latencies()),
                        sink);
            }
            writeByOrigin(models, sink);
            writeHistogram(
                    FIRST_RESPONSE,
                    models,
                    FIRST_RESPONSE_BOUNDS,
                    NANOS_PER_MILLI,
                    LatencyFamilies::firstResponses,
                    sink);
        }
    }

    private void writeSummary(
            MetricFamily family,
            MetricRows<ModelLatencies> models,
            Function<ModelLatencies, Optional<Latencies>> part,
            MetricSink sink) {
        sink.begin(family);
        for (MetricRows.Row<ModelLatencies> model : models) {
            part.apply(model.subject()).ifPresent(latencies -> {
                double[] values = wanted.quantiles().stream()
                        .mapToDouble(quantile -> latencies.quantileNanos(quantile) / NANOS_PER_MICRO)
                        .toArray();
                sink.summary(
                        model.labels(),
                        wanted.quantiles(),
                        values,
                        latencies.count(),
                        latencies.sumNanos() / NANOS_PER_MICRO);
            });
        }
    }

    private static void writeHistogram(
            MetricFamily family,
            MetricRows<ModelLatencies> models,
            List<Double> bounds,
            double unitNanos,
            Function<ModelLatencies, Latencies> part,
            MetricSink sink) {
        sink.begin(family);
        for (MetricRows.Row<ModelLatencies> row : models) {
            ModelLatencies model = row.subject();
            writeBuckets(
                    row.labels(),
                    part.apply(model),
                    model.bucketBounds().getOrDefault(family.name(), bounds),
                    unitNanos,
                    sink);
        }
    }

    private static void writeByOrigin(MetricRows<ModelLatencies> models, MetricSink sink) {
        List<MetricRows.Row<Latencies>> rows = new ArrayList<>();
        for (MetricRows.Row<ModelLatencies> model : models) {
            model.subject().byOrigin().forEach((origin, stages) -> {
                Labels labels =
                        model.labels().with("protocol", origin.protocol()).with("transport", origin.transport());
                for (Stage stage : STAGES) {
                    rows.add(new MetricRows.Row<>(
                            labels.with("stage", stage.name()),
                            stage.latencies().apply(stages)));
                }
            });
        }
        sink.begin(BY_ORIGIN);
        for (MetricRows.Row<Latencies> row : MetricRows.of(rows)) {
            writeBuckets(row.labels(), row.subject(), DURATION_BOUNDS, NANOS_PER_MICRO, sink);
        }
    }

    /** For a model of one response to each request, that response is the first; some come from the cache. */
    private static Latencies firstResponses(ModelLatencies model) {
        if (model.decoupled()) {
            return model.total(StageLatencies::firstResponse);
        }
        Latencies requests = model.total(StageLatencies::request);
        return model.cache().map(cache -> requests.plus(cache.hit())).orElse(requests);
    }

    /** Writes a histogram whose sum is in whole units, as clients of Triton's read it. */
    private static void writeBuckets(
            Labels labels, Latencies latencies, List<Double> bounds, double unitNanos, MetricSink sink) {
        long[] counts = new long[bounds.size() + 1];
        for (int i = 0; i < bounds.size(); i++) {
            counts[i] = latencies.countUpTo((long) (bounds.get(i) * unitNanos));
        }
        counts[bounds.size()] = latencies.count();
        sink.histogram(labels, bounds, counts, Math.floor(latencies.sumNanos() / unitNanos));
    }
}
