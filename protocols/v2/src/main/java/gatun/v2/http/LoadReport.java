// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonWriter;
import gatun.memory.buffers.BufferPool;
import gatun.runtime.ModelVersion;
import gatun.runtime.server.InferenceServer;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Tells load balancers that ask for it how busy a model is: in a header of its responses, in the formats of Open
 * Request Cost Aggregation (ORCA). Safe for any thread.
 */
final class LoadReport {
    private static final HeaderName FORMAT = HeaderNames.create("endpoint-load-metrics-format");
    private static final HeaderName REPORT = HeaderNames.create("endpoint-load-metrics");

    private LoadReport() {}

    /** Adds the report to the response, where the request asks for one in a known format. */
    static void add(Exchange exchange, InferenceServer server, ModelVersion model) {
        if (!exchange.hasHeader(FORMAT)) {
            return;
        }
        long pending = pendingRequestCount(server, model);
        BufferPool buffers = server.buffers();
        double poolUtilization = (double) buffers.usedBytes() / buffers.byteLimit();
        switch (exchange.header(FORMAT).orElse("")) {
            case "text" -> exchange.header(REPORT, text(pending, poolUtilization));
            case "json" -> exchange.header(REPORT, json(pending, poolUtilization));
            default -> {
                // Of a format that is not known there is no report, as in Triton.
            }
        }
    }

    private static String text(long pending, double poolUtilization) {
        return String.format(
                Locale.ROOT,
                "TEXT named_metrics.pending_request_count=%d, named_metrics.buffer_pool_utilization=%f",
                pending,
                poolUtilization);
    }

    private static String json(long pending, double poolUtilization) {
        JsonWriter json = new JsonWriter().raw("JSON {\"named_metrics\":{\"pending_request_count\":");
        json.signed(pending).raw(",\"buffer_pool_utilization\":").fp64(poolUtilization);
        json.raw("}}");
        return new String(json.array(), 0, json.size(), StandardCharsets.US_ASCII);
    }

    private static long pendingRequestCount(InferenceServer server, ModelVersion model) {
        return server.statistics().stream()
                .filter(version ->
                        version.name().equals(model.name()) && version.version().equals(model.versionText()))
                .mapToLong(statistics -> statistics.totals().pendingRequestCount())
                .sum();
    }
}
