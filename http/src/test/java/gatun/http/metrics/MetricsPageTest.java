// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.listener.OpenConnections;
import gatun.listener.OpenConnections.ConnectionLimits;
import gatun.runtime.Latencies;
import gatun.runtime.Latencies.LatencyBuckets;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelLatencies.CacheLatencies;
import gatun.runtime.ModelLatencies.StageLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatistics.BatchStatistics;
import gatun.runtime.ModelStatistics.CacheStatistics;
import gatun.runtime.Origin;
import gatun.runtime.metrics.ShownMetrics;
import gatun.runtime.metrics.ShownMetrics.LatencyMetrics;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MetricsPageTest {
    private static final ModelStatistics DIGITS = new ModelStatistics(
            "digits",
            "3",
            new ModelStatistics.Totals(
                    10,
                    25,
                    new ModelStatistics.Failures(1, 2, 3, 4, 0),
                    new ModelStatistics.StageNanos(9_000, 1_000, 2_000, 3_000, 4_000),
                    1_700_000_000_000L,
                    new ModelStatistics.Occupancy(5, 1),
                    1_500_000_000L),
            List.of(new BatchStatistics(1, 4, 500, 600, 700), new BatchStatistics(7, 3, 1_500, 2_400, 3_300)),
            List.of(),
            List.of(),
            Optional.empty());

    @Test
    void shouldNameAndLabelTheCountersAsTritonDoes() {
        try (CountedServer server = new CountedServer(DIGITS)) {
            String page = PageText.of(
                    new MetricsPage(
                            server, ShownMetrics.STANDARD, sink -> {}, new OpenConnections(ConnectionLimits.STANDARD)),
                    "");

            assertThat(page.lines())
                    .contains(
                            "nv_inference_request_success{model=\"digits\",version=\"3\"} 10",
                            "nv_inference_request_failure{model=\"digits\",reason=\"REJECTED\",version=\"3\"} 1",
                            "nv_inference_request_failure{model=\"digits\",reason=\"CANCELED\",version=\"3\"} 2",
                            "nv_inference_request_failure{model=\"digits\",reason=\"BACKEND\",version=\"3\"} 3",
                            "nv_inference_request_failure{model=\"digits\",reason=\"OTHER\",version=\"3\"} 4",
                            "nv_inference_count{model=\"digits\",version=\"3\"} 25",
                            "nv_inference_exec_count{model=\"digits\",version=\"3\"} 7",
                            "nv_inference_request_duration_us{model=\"digits\",version=\"3\"} 9",
                            "nv_inference_queue_duration_us{model=\"digits\",version=\"3\"} 1",
                            "nv_inference_compute_input_duration_us{model=\"digits\",version=\"3\"} 2",
                            "nv_inference_compute_infer_duration_us{model=\"digits\",version=\"3\"} 3",
                            "nv_inference_compute_output_duration_us{model=\"digits\",version=\"3\"} 4",
                            "nv_inference_pending_request_count{model=\"digits\",version=\"3\"} 5",
                            "nv_model_load_duration_secs{model=\"digits\",version=\"3\"} 1.5",
                            "gatun_buffer_pool_total_bytes 1048576",
                            "gatun_buffer_pool_used_bytes 0",
                            "nv_pinned_memory_pool_total_bytes 1048576",
                            "nv_pinned_memory_pool_used_bytes 0",
                            "gatun_backend_live_values{backend=\"onnxruntime\"} 12");
            assertThat(page).doesNotContain("nv_cache_");
        }
    }

    /** As Prometheus' libraries do: by the values of the labels, in the order of the labels' names. */
    @Test
    void shouldOrderLinesByTheirLabels() {
        ModelStatistics[] versions = Stream.of("m2 9", "m2 10", "m10 1", "m1 1")
                .map(version -> version.split(" ", -1))
                .map(version -> new ModelStatistics(
                        version[0], version[1], DIGITS.totals(), List.of(), List.of(), List.of(), Optional.empty()))
                .toArray(ModelStatistics[]::new);
        try (CountedServer server = new CountedServer(versions)) {
            String page = PageText.of(
                    new MetricsPage(
                            server, ShownMetrics.STANDARD, sink -> {}, new OpenConnections(ConnectionLimits.STANDARD)),
                    "");

            assertThat(page.lines().filter(line -> line.startsWith("nv_inference_count")))
                    .containsExactly(
                            "nv_inference_count{model=\"m1\",version=\"1\"} 25",
                            "nv_inference_count{model=\"m10\",version=\"1\"} 25",
                            "nv_inference_count{model=\"m2\",version=\"10\"} 25",
                            "nv_inference_count{model=\"m2\",version=\"9\"} 25");
            assertThat(page.lines()
                            .filter(line -> line.startsWith("nv_inference_request_failure{model=\"m2\""))
                            .map(line -> line.replaceAll(".*reason=\"(.*)\",version=\"(.*)\"} \\d", "$1 $2")))
                    .containsExactly(
                            "BACKEND 10",
                            "BACKEND 9",
                            "CANCELED 10",
                            "CANCELED 9",
                            "OTHER 10",
                            "OTHER 9",
                            "REJECTED 10",
                            "REJECTED 9");
        }
    }

    @Test
    void shouldCountTheCacheOfModelsThatHaveOne() {
        ModelStatistics cached = new ModelStatistics(
                "cached",
                "1",
                DIGITS.totals(),
                List.of(),
                List.of(),
                List.of(),
                Optional.of(new CacheStatistics(4, 8_000, 6, 9_000)));
        try (CountedServer server = new CountedServer(DIGITS, cached)) {
            OpenConnections open = new OpenConnections(ConnectionLimits.STANDARD);
            assertThat(PageText.of(new MetricsPage(server, ShownMetrics.STANDARD, sink -> {}, open), "")
                            .lines()
                            .filter(line -> line.startsWith("nv_cache_")))
                    .containsExactly(
                            "nv_cache_num_hits_per_model{model=\"cached\",version=\"1\"} 4",
                            "nv_cache_num_misses_per_model{model=\"cached\",version=\"1\"} 6",
                            "nv_cache_hit_duration_per_model{model=\"cached\",version=\"1\"} 8",
                            "nv_cache_miss_duration_per_model{model=\"cached\",version=\"1\"} 9");
            assertThat(PageText.of(new MetricsPage(server, EVERYTHING, sink -> {}, open), ""))
                    .doesNotContain("nv_cache_num");
        }
    }

    @Test
    void shouldAnswerOpenMetricsToThoseWhoAcceptIt() {
        try (CountedServer server = new CountedServer(DIGITS)) {
            MetricsPage page = new MetricsPage(
                    server, ShownMetrics.STANDARD, sink -> {}, new OpenConnections(ConnectionLimits.STANDARD));

            assertThat(page.contentType("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"))
                    .startsWith("application/openmetrics-text");
            assertThat(PageText.of(page, "application/openmetrics-text"))
                    .contains("# TYPE nv_inference_count counter")
                    .endsWith("# EOF\n");
            assertThat(page.contentType("text/plain")).startsWith("text/plain; version=0.0.4");
        }
    }

    @Test
    void shouldTellOfTheProcessAndTheVirtualMachineAsPrometheusLibrariesDo() {
        try (CountedServer server = new CountedServer()) {
            MetricsPage page = new MetricsPage(
                    server, ShownMetrics.STANDARD, sink -> {}, new OpenConnections(ConnectionLimits.STANDARD));
            for (String accept : List.of("", "application/openmetrics-text")) {
                String text = PageText.of(page, accept);
                assertThat(text)
                        .contains("# TYPE process_open_fds gauge", "# TYPE jvm_gc_collection_seconds summary")
                        .containsPattern("(?m)^# TYPE process_cpu_seconds(_total)? counter$");
                for (String line : List.of(
                        "process_cpu_seconds_total ",
                        "process_open_fds ",
                        "process_max_fds ",
                        "process_start_time_seconds ",
                        "process_resident_memory_bytes ",
                        "process_virtual_memory_bytes ",
                        "jvm_memory_used_bytes{area=\"heap\"} ",
                        "jvm_memory_committed_bytes{area=\"nonheap\"} ",
                        "jvm_memory_pool_used_bytes{pool=\"Metaspace\"} ",
                        "jvm_buffer_pool_used_bytes{pool=\"direct\"} ",
                        "jvm_buffer_pool_used_buffers{pool=\"mapped\"} ",
                        "jvm_threads_current ",
                        "jvm_threads_started_total ",
                        "jvm_classes_currently_loaded ",
                        "jvm_classes_loaded_total ")) {
                    assertThat(text.lines())
                            .filteredOn(found -> found.startsWith(line))
                            .hasSize(1);
                }
                assertThat(text)
                        .containsPattern("(?m)^jvm_gc_collection_seconds_count\\{gc=\"[^\"]+\"} \\d+$")
                        .containsPattern("(?m)^jvm_gc_collection_seconds_sum\\{gc=\"[^\"]+\"} [0-9.E-]+$")
                        .containsPattern("(?m)^jvm_runtime_info\\{runtime=\".*\",vendor=\".*\",version=\".*\"} 1$");
            }
        }
    }

    @Test
    void shouldRenderAServerWithoutModels() {
        try (CountedServer server = new CountedServer()) {
            assertThat(PageText.of(
                            new MetricsPage(
                                    server,
                                    ShownMetrics.STANDARD,
                                    sink -> {},
                                    new OpenConnections(ConnectionLimits.STANDARD)),
                            ""))
                    .contains("gatun_buffer_pool_used_bytes 0");
        }
    }

    private static final ShownMetrics EVERYTHING =
            new ShownMetrics(new LatencyMetrics(false, true, true, List.of(0.5, 0.99)), Optional.empty());

    /** As many durations as there are numbers, in microseconds. */
    private static Latencies micros(long... durations) {
        long[] counts = new long[LatencyBuckets.COUNT];
        long sum = 0;
        for (long micros : durations) {
            counts[LatencyBuckets.bucketOf(micros * 1000)]++;
            sum += micros * 1000;
        }
        return new Latencies(counts, sum);
    }

    private static StageLatencies stages(long... requestMicros) {
        Latencies request = micros(requestMicros);
        return new StageLatencies(request, micros(1, 2), micros(3), micros(4), micros(5), micros(50_000, 300_000));
    }

    @Test
    void shouldTellQuantilesAndHistogramsOfLatenciesToThoseWhoWantThem() {
        ModelLatencies digits = new ModelLatencies(
                "digits",
                "3",
                true,
                Map.of(new Origin(0, "v2", "http"), stages(40, 150), new Origin(1, "v2", "grpc"), stages(700)),
                Optional.of(new CacheLatencies(micros(7, 8), micros(9))),
                Map.of("nv_inference_first_response_histogram_ms", List.of(60.0, 1000.0)));
        ModelLatencies plain = new ModelLatencies("plain", "1", false, digits.byOrigin(), Optional.empty(), Map.of());
        try (CountedServer server = new CountedServer(DIGITS).withLatencies(digits, plain)) {
            String page = PageText.of(
                    new MetricsPage(server, EVERYTHING, sink -> {}, new OpenConnections(ConnectionLimits.STANDARD)),
                    "");

            assertThat(page.lines())
                    .contains(
                            "nv_inference_request_summary_us_count{model=\"plain\",version=\"1\"} 3",
                            "nv_inference_request_summary_us_sum{model=\"plain\",version=\"1\"} 890",
                            "nv_inference_first_response_histogram_ms_count{model=\"plain\",version=\"1\"} 3",
                            "nv_cache_hit_summary_per_model_count{model=\"digits\",version=\"3\"} 2",
                            "nv_cache_hit_summary_per_model_sum{model=\"digits\",version=\"3\"} 15",
                            "nv_cache_miss_summary_per_model_sum{model=\"digits\",version=\"3\"} 9",
                            "# TYPE nv_inference_queue_duration_histogram_us histogram",
                            "nv_inference_request_duration_histogram_us_bucket{model=\"digits\",version=\"3\",le=\"50\"}"
                                    + " 1",
                            "nv_inference_request_duration_histogram_us_bucket{model=\"digits\",version=\"3\",le=\"200\"}"
                                    + " 2",
                            "nv_inference_request_duration_histogram_us_bucket{model=\"digits\",version=\"3\",le=\"+Inf\"}"
                                    + " 3",
                            "nv_inference_request_duration_histogram_us_sum{model=\"digits\",version=\"3\"} 890",
                            "nv_inference_first_response_histogram_ms_bucket{model=\"digits\",version=\"3\",le=\"60\"}"
                                    + " 2",
                            "nv_inference_first_response_histogram_ms_bucket{model=\"digits\",version=\"3\",le=\"+Inf\"}"
                                    + " 4",
                            "gatun_inference_stage_duration_us_count{model=\"digits\",protocol=\"v2\",stage=\"request\",transport=\"http\",version=\"3\"}"
                                    + " 2",
                            "gatun_inference_stage_duration_us_count{model=\"digits\",protocol=\"v2\",stage=\"request\",transport=\"grpc\",version=\"3\"}"
                                    + " 1");
            // A reported duration is at most 1/32 above the true one.
            assertThat(page)
                    .containsPattern("nv_inference_request_summary_us\\{.*quantile=\"0.5\"} 15[0-4]\\.")
                    .containsPattern("nv_inference_request_summary_us\\{.*quantile=\"0.99\"} 7[0-2][0-9]\\.");
            assertThat(page)
                    .doesNotContain("_duration_us{model=\"digits\",version=\"3\"}")
                    .doesNotContain("nv_inference_request_summary_us_count{model=\"digits\"")
                    .doesNotContain("nv_cache_hit_summary_per_model_count{model=\"plain\"");
        }
    }

    @Test
    void shouldShowNeitherSummariesNorHistogramsByDefault() {
        ModelLatencies digits = new ModelLatencies(
                "digits", "3", true, Map.of(new Origin(0, "v2", "http"), stages(40)), Optional.empty(), Map.of());
        try (CountedServer server = new CountedServer(DIGITS).withLatencies(digits)) {
            assertThat(PageText.of(
                            new MetricsPage(
                                    server,
                                    ShownMetrics.STANDARD,
                                    sink -> {},
                                    new OpenConnections(ConnectionLimits.STANDARD)),
                            ""))
                    .doesNotContain("_summary_", "histogram", "stage");
        }
    }

    @Test
    void shouldGiveCountersTheirTypeAndTheNameThatTritonGivesThem() {
        try (CountedServer server = new CountedServer(DIGITS)) {
            assertThat(PageText.of(
                                    new MetricsPage(
                                            server,
                                            ShownMetrics.STANDARD,
                                            sink -> {},
                                            new OpenConnections(ConnectionLimits.STANDARD)),
                                    "")
                            .lines())
                    .contains(
                            "# TYPE nv_inference_count counter",
                            "# TYPE nv_inference_request_failure counter",
                            "# TYPE nv_inference_pending_request_count gauge")
                    .noneMatch(line -> line.endsWith("untyped"));
        }
    }

    @Test
    void shouldTellOfTheMachineUnlessThatIsSwitchedOff() {
        try (CountedServer server = new CountedServer(DIGITS)) {
            assertThat(PageText.of(
                            new MetricsPage(
                                    server,
                                    ShownMetrics.STANDARD,
                                    sink -> {},
                                    new OpenConnections(ConnectionLimits.STANDARD)),
                            ""))
                    .containsPattern("\nnv_cpu_utilization [01]")
                    .containsPattern("\nnv_cpu_memory_total_bytes [1-9]")
                    .containsPattern("\nnv_cpu_memory_used_bytes [1-9]");
            assertThat(PageText.of(
                            new MetricsPage(
                                    server, EVERYTHING, sink -> {}, new OpenConnections(ConnectionLimits.STANDARD)),
                            ""))
                    .doesNotContain("nv_cpu");
        }
    }
}
