// SPDX-License-Identifier: Apache-2.0
package gatun.it.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.NvmlStandIn;
import gatun.it.harness.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Metrics of GPUs, from a library that stands in for NVIDIA's: no machine needs a GPU to run this. */
@Timeout(120)
class GpuMetricsIT {
    @TempDir
    static Path folder;

    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeAll
    static void buildTheLibrary() throws Exception {
        NvmlStandIn.build(folder);
    }

    private static ServerProcess launch(String... flags) throws InterruptedException {
        return ServerProcess.launch(ServerProcess.exampleModels(), Map.of("LD_LIBRARY_PATH", folder.toString()), flags);
    }

    private List<String> gpuLines(URI metrics) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(metrics).build(), BodyHandlers.ofLines())
                .body()
                .filter(line -> line.contains("gpu_uuid") || line.matches("# TYPE nv_(gpu|energy)_.*"))
                .toList();
    }

    @Test
    void shouldTellOfEachGpuWhatTheDriverTells() throws Exception {
        try (ServerProcess server = launch()) {
            assertThat(gpuLines(server.metrics()))
                    .containsExactlyInAnyOrder(
                            "# TYPE nv_gpu_utilization gauge",
                            "# TYPE nv_gpu_memory_total_bytes gauge",
                            "# TYPE nv_gpu_memory_used_bytes gauge",
                            "# TYPE nv_gpu_power_usage gauge",
                            "# TYPE nv_gpu_power_limit gauge",
                            "# TYPE nv_energy_consumption counter",
                            "nv_gpu_utilization{gpu_uuid=\"GPU-first\"} 0.75",
                            "nv_gpu_memory_total_bytes{gpu_uuid=\"GPU-first\"} 6000000000",
                            "nv_gpu_memory_total_bytes{gpu_uuid=\"GPU-second\"} 6000000000",
                            "nv_gpu_memory_used_bytes{gpu_uuid=\"GPU-first\"} 1000000000",
                            "nv_gpu_memory_used_bytes{gpu_uuid=\"GPU-second\"} 1000000000",
                            "nv_gpu_power_usage{gpu_uuid=\"GPU-first\"} 123.5",
                            "nv_gpu_power_limit{gpu_uuid=\"GPU-first\"} 700",
                            "nv_energy_consumption{gpu_uuid=\"GPU-first\"} 0.5");
            assertThat(gpuLines(server.metrics())).contains("nv_energy_consumption{gpu_uuid=\"GPU-first\"} 1");
        }
    }

    @Test
    void shouldTellNothingWhereThatIsNotWanted() throws Exception {
        try (ServerProcess server = launch("--allow-gpu-metrics=false")) {
            assertThat(gpuLines(server.metrics())).isEmpty();
        }
    }
}
