// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import gatun.bench.load.Load;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.StoppingRule;
import gatun.bench.load.Window;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/** The result as JSON, with all that was measured: times in nanoseconds. */
public final class JsonReport {
    private static final double[] PERCENTILES = {0, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999, 100};
    private static final JsonFactory FACTORY = new JsonFactory();

    private JsonReport() {}

    /** All of it, and a line break. */
    public static String text(Report report) {
        StringWriter out = new StringWriter();
        try (JsonGenerator json = FACTORY.createGenerator(out)) {
            json.setPrettyPrinter(new DefaultPrettyPrinter());
            write(report, json);
        } catch (IOException e) {
            throw new UncheckedIOException("a text that is written to memory cannot fail", e);
        }
        return out.append('\n').toString();
    }

    private static void write(Report report, JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("model", report.subject().model());
        json.writeStringField("version", report.subject().version());
        json.writeStringField("data", report.subject().data());
        json.writeStringField("began", report.began().toString());
        json.writeBooleanField("answers_checked", report.responsesChecked());
        if (report.percentile().isPresent()) {
            json.writeNumberField("stability_percentile", report.percentile().getAsDouble());
        }
        json.writeObjectFieldStart("environment");
        for (Map.Entry<String, String> entry : report.environment().entrySet()) {
            json.writeStringField(entry.getKey(), entry.getValue());
        }
        json.writeEndObject();
        json.writeArrayFieldStart("rows");
        for (Row row : report.rows()) {
            write(row, json);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void write(Row row, JsonGenerator json) throws IOException {
        Window window = row.window();
        json.writeStartObject();
        json.writeStringField("url", row.url());
        json.writeStringField("transport", row.transport());
        switch (row.measurement().load()) {
            case Load.Concurrency closed -> json.writeNumberField("concurrency", closed.requests());
            case Load.RequestRate open -> {
                json.writeNumberField("request_rate", open.perSecond());
                json.writeStringField("distribution", open.distribution().name().toLowerCase(Locale.ROOT));
            }
        }
        json.writeNumberField("batch", row.batch());
        json.writeBooleanField("stable", row.isStable());
        json.writeBooleanField("interrupted", row.measurement().verdict() == StoppingRule.Verdict.CONTINUE);
        json.writeNumberField("windows", row.measurement().windows());
        json.writeNumberField("measured_nanos", window.nanos());
        json.writeNumberField("requests", window.answered());
        json.writeNumberField("requests_per_second", window.perSecond());
        json.writeNumberField("inferences_per_second", row.inferencesPerSecond());
        json.writeNumberField("tensor_bytes_per_second", window.tensorBytesPerSecond());
        json.writeNumberField("longest_lag_nanos", window.longestLagNanos());
        json.writeNumberField("overdue", row.measurement().overdue());
        counts("failures", row.measurement().problems().failures(), json);
        counts("wrong_answers", row.measurement().problems().wrongResponses(), json);
        latency(window, json);
        if (row.server().isPresent()) {
            server(row, row.server().get(), json);
        }
        json.writeObjectFieldStart("client");
        json.writeNumberField(
                "worker_heap_bytes_per_request", row.perRequest(window.cost().workerHeapBytes()));
        json.writeNumberField(
                "process_heap_bytes_per_request", row.perRequest(window.cost().heapBytes()));
        json.writeNumberField(
                "process_cpu_nanos_per_request", row.perRequest(window.cost().processorNanos()));
        json.writeEndObject();
        json.writeEndObject();
    }

    private static void latency(Window window, JsonGenerator json) throws IOException {
        Histogram latencies = window.latencies();
        json.writeObjectFieldStart("latency_nanos");
        if (window.answered() > 0) {
            json.writeNumberField("min", latencies.getMinValue());
            json.writeNumberField("mean", latencies.getMean());
            json.writeNumberField("standard_deviation", latencies.getStdDeviation());
            json.writeNumberField("max", latencies.getMaxValue());
        }
        json.writeArrayFieldStart("percentiles");
        for (double percentile : PERCENTILES) {
            json.writeStartObject();
            json.writeNumberField("percentile", percentile);
            json.writeNumberField("value", window.percentileNanos(percentile));
            json.writeEndObject();
        }
        json.writeEndArray();
        // Each bucket by its greatest value.
        json.writeArrayFieldStart("histogram");
        for (HistogramIterationValue value : latencies.recordedValues()) {
            json.writeStartArray();
            json.writeNumber(value.getValueIteratedTo());
            json.writeNumber(value.getCountAtValueIteratedTo());
            json.writeEndArray();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void server(Row row, ServerCounters counters, JsonGenerator json) throws IOException {
        json.writeObjectFieldStart("server");
        json.writeNumberField("requests", counters.requests());
        json.writeNumberField("inferences", counters.inferences());
        json.writeNumberField("executions", counters.executions());
        json.writeNumberField("cache_hits", counters.cacheHits());
        json.writeNumberField(
                "queue_nanos_per_request", counters.perRequest(counters.times().queueNanos()));
        json.writeNumberField(
                "compute_input_nanos_per_request",
                counters.perRequest(counters.times().inputNanos()));
        json.writeNumberField(
                "compute_infer_nanos_per_request",
                counters.perRequest(counters.times().inferNanos()));
        json.writeNumberField(
                "compute_output_nanos_per_request",
                counters.perRequest(counters.times().outputNanos()));
        json.writeNumberField(
                "total_nanos_per_request", counters.perRequest(counters.times().requestNanos()));
        json.writeNumberField("elsewhere_nanos_per_request", row.elsewhereNanos(counters));
        json.writeEndObject();
    }

    private static void counts(String name, Map<String, Long> counts, JsonGenerator json) throws IOException {
        json.writeArrayFieldStart(name);
        for (Map.Entry<String, Long> entry : counts.entrySet()) {
            json.writeStartObject();
            json.writeStringField("text", entry.getKey());
            json.writeNumberField("count", entry.getValue());
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
