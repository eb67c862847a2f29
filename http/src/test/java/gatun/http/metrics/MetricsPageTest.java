package gatun.http.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.BatchStatistics;
import gatun.runtime.ModelStatistics;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class MetricsPageTest {
    private static final ModelStatistics DIGITS = new ModelStatistics(
            "digits",
            "3",
            10,
            1,
            2,
            3,
            4,
            9_000,
            0,
            1_000,
            2_000,
            3_000,
            4_000,
            1_700_000_000_000L,
            List.of(new BatchStatistics(1, 4, 500, 600, 700), new BatchStatistics(7, 3, 1_500, 2_400, 3_300)),
            5,
            1_500_000_000L);

    @Test
    void shouldNameAndLabelTheCountersAsTritonDoes() {
        try (CountedServer server = new CountedServer(DIGITS)) {
            String page = text(new MetricsPage(server), "");

            assertThat(page.lines())
                    .contains(
                            "nv_inference_request_success{model=\"digits\",version=\"3\"} 10.0",
                            "nv_inference_request_failure{model=\"digits\",reason=\"REJECTED\",version=\"3\"} 1.0",
                            "nv_inference_request_failure{model=\"digits\",reason=\"CANCELED\",version=\"3\"} 2.0",
                            "nv_inference_request_failure{model=\"digits\",reason=\"BACKEND\",version=\"3\"} 3.0",
                            "nv_inference_request_failure{model=\"digits\",reason=\"OTHER\",version=\"3\"} 4.0",
                            "nv_inference_count{model=\"digits\",version=\"3\"} 25.0",
                            "nv_inference_exec_count{model=\"digits\",version=\"3\"} 7.0",
                            "nv_inference_request_duration_us{model=\"digits\",version=\"3\"} 9.0",
                            "nv_inference_queue_duration_us{model=\"digits\",version=\"3\"} 1.0",
                            "nv_inference_compute_input_duration_us{model=\"digits\",version=\"3\"} 2.0",
                            "nv_inference_compute_infer_duration_us{model=\"digits\",version=\"3\"} 3.0",
                            "nv_inference_compute_output_duration_us{model=\"digits\",version=\"3\"} 4.0",
                            "nv_inference_pending_request_count{model=\"digits\",version=\"3\"} 5.0",
                            "nv_model_load_duration_secs{model=\"digits\",version=\"3\"} 1.5",
                            "nv_pinned_memory_pool_total_bytes 1048576.0",
                            "nv_pinned_memory_pool_used_bytes 0.0",
                            "gatun_backend_live_values{backend=\"onnxruntime\"} 12.0");
        }
    }

    @Test
    void shouldAnswerOpenMetricsToThoseWhoAcceptIt() {
        try (CountedServer server = new CountedServer(DIGITS)) {
            MetricsPage page = new MetricsPage(server);

            assertThat(page.contentType("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"))
                    .startsWith("application/openmetrics-text");
            assertThat(text(page, "application/openmetrics-text"))
                    .contains("# TYPE nv_inference_count counter")
                    .endsWith("# EOF\n");
            assertThat(page.contentType("text/plain")).startsWith("text/plain; version=0.0.4");
        }
    }

    @Test
    void shouldRenderAServerWithoutModels() {
        try (CountedServer server = new CountedServer()) {
            assertThat(text(new MetricsPage(server), "")).contains("nv_pinned_memory_pool_used_bytes 0.0");
        }
    }

    private static String text(MetricsPage page, String accept) {
        return new String(page.render(accept), StandardCharsets.UTF_8);
    }
}
