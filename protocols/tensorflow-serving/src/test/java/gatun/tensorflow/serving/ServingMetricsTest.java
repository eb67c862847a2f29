// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.tensorflow.serving.ServingMetrics.Api;
import gatun.tensorflow.serving.ServingMetrics.Entrypoint;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServingMetricsTest {
    private final ServingMetrics metrics = new ServingMetrics();

    private List<String> page() {
        return new String(metrics.page(), StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void shouldNameEveryMetricBeforeAnythingIsCounted() {
        assertThat(page())
                .containsExactly(
                        "# TYPE :tensorflow:serving:request_count counter",
                        "# TYPE :tensorflow:serving:request_latency histogram",
                        "# TYPE :tensorflow:serving:runtime_latency histogram",
                        "# TYPE :tensorflow:serving:request_example_counts histogram",
                        "# TYPE :tensorflow:serving:request_example_count_total counter");
    }

    @Test
    void shouldCountRequestsByModelAndStatus() {
        metrics.answered("m", Api.PREDICT, Entrypoint.GRPC, 1);
        metrics.answered("m", Api.PREDICT, Entrypoint.REST, 1);
        metrics.failed("m", ErrorCode.INVALID_ARGUMENT);
        metrics.failed("m", ErrorCode.UNSUPPORTED);
        metrics.failed("a\"b\\c\nd", "DEADLINE_EXCEEDED");

        assertThat(page())
                .contains(
                        ":tensorflow:serving:request_count{model_name=\"a\\\"b\\\\c\\nd\",status=\"DEADLINE_EXCEEDED\"} 1",
                        ":tensorflow:serving:request_count{model_name=\"m\",status=\"INVALID_ARGUMENT\"} 1",
                        ":tensorflow:serving:request_count{model_name=\"m\",status=\"OK\"} 2",
                        ":tensorflow:serving:request_count{model_name=\"m\",status=\"UNIMPLEMENTED\"} 1");
        assertThat(metrics.counted("/tensorflow/serving/request_count")).isEqualTo(5);
        assertThat(metrics.counted(":tensorflow:serving:request_count")).isEqualTo(5);
        assertThat(metrics.counted("/tensorflow/serving/other")).isZero();
    }

    @Test
    void shouldSortLatenciesIntoThirtyThreeBounds() {
        metrics.answered("m", Api.CLASSIFY, Entrypoint.REST, 9_999);
        metrics.answered("m", Api.CLASSIFY, Entrypoint.REST, 10_000);
        metrics.answered("m", Api.CLASSIFY, Entrypoint.REST, 3_000_000_000_000L);
        metrics.recordRun("m", Api.PREDICT, 20_000);
        String latency = ":tensorflow:serving:request_latency";
        String labels = "model_name=\"m\",API=\"classify\",entrypoint=\"REST\"";

        assertThat(page().stream().filter(line -> line.startsWith(latency + "_bucket")))
                .hasSize(34)
                .startsWith(
                        latency + "_bucket{" + labels + ",le=\"10\"} 1",
                        latency + "_bucket{" + labels + ",le=\"18\"} 2",
                        latency + "_bucket{" + labels + ",le=\"32.4\"} 2")
                .contains(latency + "_bucket{" + labels + ",le=\"1.27482e+06\"} 2")
                .endsWith(latency + "_bucket{" + labels + ",le=\"+Inf\"} 3");
        assertThat(page())
                .contains(
                        latency + "_sum{" + labels + "} 3000000019",
                        latency + "_count{" + labels + "} 3",
                        ":tensorflow:serving:runtime_latency_count{model_name=\"m\",API=\"Predict\",runtime=\"TF1\"} 1");
    }

    @Test
    void shouldCountExamples() {
        metrics.examples("m", 3);
        metrics.examples("m", 5);

        assertThat(page())
                .contains(
                        ":tensorflow:serving:request_example_counts_bucket{model=\"m\",le=\"4\"} 1",
                        ":tensorflow:serving:request_example_counts_bucket{model=\"m\",le=\"16384\"} 2",
                        ":tensorflow:serving:request_example_counts_sum{model=\"m\"} 8",
                        ":tensorflow:serving:request_example_count_total{model=\"m\"} 8");
        assertThat(metrics.counted("/tensorflow/serving/request_example_count_total"))
                .isEqualTo(8);
    }

    @Test
    void shouldNotGrowWithTheNamesThatClientsThinkOf() {
        for (int i = 0; i < 3000; i++) {
            metrics.failed("model" + i, ErrorCode.NOT_FOUND);
        }
        metrics.failed("long".repeat(100), ErrorCode.NOT_FOUND);
        assertThat(page().stream().filter(line -> line.contains("request_count{")))
                .hasSize(1001);
        assertThat(page())
                .contains(":tensorflow:serving:request_count{model_name=\"other\",status=\"NOT_FOUND\"} 2001");
    }

    @Test
    void shouldReadWhetherAndWhereMetricsAreShown(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("monitoring.config");
        Files.writeString(file, "prometheus_config { enable: true }");
        assertThat(MonitoringFile.path(file)).contains("/monitoring/prometheus/metrics");
        Files.writeString(file, "prometheus_config { enable: true path: \"/m\" }");
        assertThat(MonitoringFile.path(file)).contains("/m");
        Files.writeString(file, "prometheus_config { path: \"/m\" }");
        assertThat(MonitoringFile.path(file)).isEmpty();
        Files.writeString(file, "prometheus_config { enable: true path: \"m\" }");
        assertThatThrownBy(() -> MonitoringFile.path(file))
                .isInstanceOf(GatunException.class)
                .hasMessage("path of prometheus_config is 'm'; expected one that begins with /");
    }
}
