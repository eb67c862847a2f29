// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonWriter;
import gatun.memory.tensor.Hold;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.ResponseStatistics;
import gatun.runtime.server.InferenceServer;
import java.util.List;

/** The counters of models. Safe for any thread. */
final class StatisticsRoutes {
    /** Heap for the counters of a version, in bytes, while a client reads them. */
    private static final int STATISTICS_BYTE_SIZE = 1024;

    private final InferenceServer server;

    StatisticsRoutes(InferenceServer server) {
        this.server = server;
    }

    /** Answers with the counters of every ready version of every model. */
    void all(Exchange exchange) {
        answer(exchange, server.statistics());
    }

    /** Answers the counters of a model's ready versions, or of one version where {@code version} is not empty. */
    void model(Exchange exchange, String name, String version) {
        answer(exchange, server.statistics(name, version));
    }

    private void answer(Exchange exchange, List<ModelStatistics> models) {
        Hold held = server.heap().reserve((long) models.size() * STATISTICS_BYTE_SIZE);
        try (held) {
            send(exchange, models);
        }
    }

    private static void send(Exchange exchange, List<ModelStatistics> models) {
        JsonWriter json = exchange.json(JsonResponse.HEADERS).raw("{\"model_stats\":[");
        for (int i = 0; i < models.size(); i++) {
            if (i > 0) {
                json.raw(',');
            }
            write(json, models.get(i));
        }
        JsonResponse.send(exchange, json.raw("]}"));
    }

    private static void write(JsonWriter json, ModelStatistics model) {
        json.raw("{\"name\":").string(model.name());
        json.raw(",\"version\":").string(model.version());
        json.raw(",\"last_inference\":").signed(model.totals().lastInferenceMillis());
        json.raw(",\"inference_count\":").signed(model.totals().inferenceCount());
        json.raw(",\"execution_count\":").signed(model.executionCount());
        long successes = model.successCount();
        json.raw(",\"inference_stats\":{");
        duration(json, "\"success\":", successes, model.totals().nanos().request());
        duration(
                json,
                ",\"fail\":",
                model.failureCount(),
                model.totals().failures().nanos());
        duration(json, ",\"queue\":", successes, model.totals().nanos().queue());
        long computed = model.computedCount();
        duration(json, ",\"compute_input\":", computed, model.totals().nanos().computeInput());
        duration(json, ",\"compute_infer\":", computed, model.totals().nanos().computeInfer());
        duration(json, ",\"compute_output\":", computed, model.totals().nanos().computeOutput());
        duration(
                json, ",\"cache_hit\":", model.cache().hitCount(), model.cache().hitNanos());
        duration(
                json,
                ",\"cache_miss\":",
                model.cache().missCount(),
                model.cache().missNanos());
        json.raw("},\"response_stats\":{");
        for (int place = 0; place < model.responses().size(); place++) {
            if (place > 0) {
                json.raw(',');
            }
            json.raw('"').signed(place).raw("\":");
            write(json, model.responses().get(place));
        }
        json.raw("},\"batch_stats\":[");
        for (int i = 0; i < model.batches().size(); i++) {
            if (i > 0) {
                json.raw(',');
            }
            write(json, model.batches().get(i));
        }
        json.raw("],\"memory_usage\":[]}");
    }

    private static void write(JsonWriter json, ResponseStatistics responses) {
        json.raw('{');
        total(json, "\"compute_infer\":", responses.computeInfer());
        total(json, ",\"compute_output\":", responses.computeOutput());
        total(json, ",\"success\":", responses.success());
        total(json, ",\"fail\":", responses.fail());
        total(json, ",\"empty_response\":", responses.empty());
        total(json, ",\"cancel\":", responses.cancel());
        json.raw('}');
    }

    private static void total(JsonWriter json, String name, ResponseStatistics.Total total) {
        duration(json, name, total.count(), total.nanos());
    }

    private static void write(JsonWriter json, BatchStatistics batch) {
        json.raw("{\"batch_size\":").signed(batch.batchSize());
        duration(json, ",\"compute_input\":", batch.executionCount(), batch.computeInputNanos());
        duration(json, ",\"compute_infer\":", batch.executionCount(), batch.computeInferNanos());
        duration(json, ",\"compute_output\":", batch.executionCount(), batch.computeOutputNanos());
        json.raw('}');
    }

    private static void duration(JsonWriter json, String key, long count, long nanos) {
        json.raw(key)
                .raw("{\"count\":")
                .signed(count)
                .raw(",\"ns\":")
                .signed(nanos)
                .raw('}');
    }
}
