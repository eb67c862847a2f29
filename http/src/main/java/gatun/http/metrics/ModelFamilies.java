// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.http.metrics.ShownMetrics.LatencyMetrics;
import gatun.runtime.ModelStatistics;
import gatun.runtime.server.InferenceServer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** The families of model versions, under the names that users of Triton know. Safe for any thread. */
final class ModelFamilies {
    private static final double NANOS_PER_MICRO = 1e3;
    private static final double NANOS_PER_SECOND = 1e9;

    private static final List<Measure<ModelStatistics>> COUNTERS = List.of(
            Measure.counter(
                    "nv_inference_request_success",
                    "Number of successful inference requests, all batch sizes",
                    ModelStatistics::successCount),
            Measure.counter(
                    "nv_inference_count",
                    "Number of inferences performed (a request of batch size n counts n)",
                    model -> model.totals().inferenceCount()),
            Measure.counter(
                    "nv_inference_exec_count",
                    "Number of model executions performed",
                    ModelStatistics::executionCount));

    private static final List<Measure<ModelStatistics>> LATENCIES = List.of(
            micros("request", "request handling", ModelStatistics.StageNanos::request),
            micros("queue", "queuing", ModelStatistics.StageNanos::queue),
            micros("compute_input", "compute input", ModelStatistics.StageNanos::computeInput),
            micros("compute_infer", "compute inference", ModelStatistics.StageNanos::computeInfer),
            micros("compute_output", "compute output", ModelStatistics.StageNanos::computeOutput));

    /** Of models whose responses are cached. */
    private static final List<Measure<ModelStatistics>> CACHE = List.of(
            Measure.counter(
                    "nv_cache_num_hits_per_model",
                    "Number of requests that the response cache answered",
                    model -> model.cache().hitCount()),
            Measure.counter(
                    "nv_cache_num_misses_per_model",
                    "Number of requests that were not in the response cache",
                    model -> model.cache().missCount()),
            Measure.counter(
                    "nv_cache_hit_duration_per_model",
                    "Cumulative time of response cache hits in microseconds",
                    model -> model.cache().hitNanos() / NANOS_PER_MICRO),
            Measure.counter(
                    "nv_cache_miss_duration_per_model",
                    "Cumulative time of response cache misses in microseconds",
                    model -> model.cache().missNanos() / NANOS_PER_MICRO));

    private static final Measure<Long> FAILURES = Measure.counter(
            "nv_inference_request_failure", "Number of failed inference requests, all batch sizes", Long::doubleValue);

    private static final List<Measure<ModelStatistics>> GAUGES = List.of(
            Measure.gauge(
                    "nv_inference_pending_request_count",
                    "Instantaneous number of pending requests awaiting execution",
                    model -> model.totals().pendingRequestCount()),
            Measure.gauge(
                    "nv_model_load_duration_secs",
                    "Time it took to load the model, in seconds",
                    model -> model.totals().loadNanos() / NANOS_PER_SECOND));

    private final InferenceServer server;
    private final ModelLabels labels;
    private final LatencyFamilies latencies;

    ModelFamilies(InferenceServer server, LatencyMetrics shown) {
        this.server = server;
        labels = new ModelLabels(server);
        latencies = new LatencyFamilies(shown);
    }

    private static Measure<ModelStatistics> micros(
            String stage, String meaning, ToLongFunction<ModelStatistics.StageNanos> nanos) {
        return Measure.counter(
                "nv_inference_" + stage + "_duration_us",
                "Cumulative inference " + meaning + " duration in microseconds",
                model -> nanos.applyAsLong(model.totals().nanos()) / NANOS_PER_MICRO);
    }

    /** Writes what {@code statistics} and the server tell of the versions. */
    void write(List<ModelStatistics> statistics, PageWriter page) {
        Rows<ModelStatistics> models = Rows.of(statistics, model -> labels.of(model.model(), model.version()));
        page.addAll(COUNTERS, models);
        if (latencies.counters()) {
            page.addAll(LATENCIES, models);
            page.addAll(CACHE, models.where(model -> model.cached().isPresent()));
        }
        page.add(FAILURES, failures(models));
        if (latencies.any()) {
            latencies.write(Rows.of(server.latencies(), model -> labels.of(model.model(), model.version())), page);
        }
        page.addAll(GAUGES, models);
        TuningFamilies.write(models, server, page);
    }

    private static Rows<Long> failures(Rows<ModelStatistics> models) {
        List<Rows.Row<Long>> rows = new ArrayList<>();
        for (Rows.Row<ModelStatistics> model : models) {
            ModelStatistics.Failures failures = model.subject().totals().failures();
            rows.add(failure(model.labels(), "BACKEND", failures.backend()));
            rows.add(failure(model.labels(), "CANCELED", failures.canceled()));
            rows.add(failure(model.labels(), "OTHER", failures.other()));
            rows.add(failure(model.labels(), "REJECTED", failures.rejected()));
        }
        return Rows.of(rows);
    }

    private static Rows.Row<Long> failure(Labels model, String reason, long count) {
        return new Rows.Row<>(model.with("reason", reason), count);
    }
}
