// SPDX-License-Identifier: Apache-2.0
package gatun.it.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.gpu.RegionClient.Window;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import gatun.testing.CudaStandIn;
import gatun.testing.CudaStandIn.Count;
import gatun.testing.CudaStandInCounts;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Models on a GPU behind others: an ensemble of them, and one with the response cache. */
@Timeout(120)
class CudaEnsembleIT {
    private static final int COUNT = 16;
    private static final long BYTES = COUNT * Integer.BYTES;
    private static final List<Long> SHAPE = List.of(1L, (long) COUNT);

    @TempDir
    static Path folder;

    private static CudaStandInCounts counts;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(CudaEnsembleIT::start);

    private static final HttpApi http = server.http();

    private static ServerProcess start() throws Exception {
        Map<String, String> environment = new HashMap<>(CudaClient.environment());
        counts = new CudaStandInCounts(folder.resolve("counts"));
        environment.put(CudaStandInCounts.VARIABLE, counts.file().toString());
        Path repository = Files.createDirectory(folder.resolve("models"));
        model(repository, "simple_gpu", "");
        model(repository, "remembered_gpu", "response_cache { enable: true }\n");
        Files.createDirectories(repository.resolve("twice/1"));
        Files.writeString(repository.resolve("twice/config.pbtxt"), """
                platform: "ensemble"
                max_batch_size: 8
                input [
                  { name: "A" data_type: TYPE_INT32 dims: [ 16 ] },
                  { name: "B" data_type: TYPE_INT32 dims: [ 16 ] }
                ]
                output [
                  { name: "TWICE_A" data_type: TYPE_INT32 dims: [ 16 ] },
                  { name: "TWICE_B" data_type: TYPE_INT32 dims: [ 16 ] }
                ]
                ensemble_scheduling {
                  step [
                    { model_name: "simple_gpu" model_version: -1
                      input_map { key: "INPUT0" value: "A" } input_map { key: "INPUT1" value: "B" }
                      output_map { key: "OUTPUT0" value: "sum" } output_map { key: "OUTPUT1" value: "difference" } },
                    { model_name: "simple_gpu" model_version: -1
                      input_map { key: "INPUT0" value: "sum" } input_map { key: "INPUT1" value: "difference" }
                      output_map { key: "OUTPUT0" value: "TWICE_A" } output_map { key: "OUTPUT1" value: "TWICE_B" } }
                  ]
                }
                """);
        return ServerProcess.launch(
                repository,
                environment,
                "--allow-client-shm",
                "--trust-client-shm",
                "--cache-config=local,size=1048576");
    }

    /** {@code simple_gpu} of the examples by another name, with more in its configuration. */
    private static void model(Path repository, String name, String more) throws IOException {
        Path example = ServerProcess.root().resolve("examples/models-gpu/simple_gpu");
        Files.createDirectories(repository.resolve(name).resolve("1"));
        Files.copy(example.resolve("1/model.ptx"), repository.resolve(name).resolve("1/model.ptx"));
        String config = Files.readString(example.resolve("config.pbtxt"));
        Files.writeString(
                repository.resolve(name).resolve("config.pbtxt"),
                config.replace("name: \"simple_gpu\"", "name: \"" + name + "\"").replace("count: 1", "gpus: [ 0 ]")
                        + more);
    }

    private static byte[] numbers(int first, int step) {
        ByteBuffer bytes = ByteBuffer.allocate((int) BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < COUNT; i++) {
            bytes.putInt(first + step * i);
        }
        return bytes.array();
    }

    private static Window window(String name, int place) {
        return new Window(name, "INT32", SHAPE, "gpu", place * BYTES, BYTES);
    }

    @Test
    void shouldLetAnEnsembleReadAndWriteAClientsMemoryOnTheGpu() throws Exception {
        RegionClient protocol = new RegionClient.Http(http);
        try (CudaClient client = CudaClient.launch(0, 4 * BYTES)) {
            client.write(0, numbers(100, 3));
            client.write(BYTES, numbers(-7, 5));
            assertThat(protocol.register("gpu", client.handle(), 0, 4 * BYTES)).isEmpty();
            long launches = counts.count(Count.LAUNCHES);
            long copied = counts.count(Count.COPIED_BYTES);

            assertThat(protocol.infer(
                            "twice",
                            List.of(window("A", 0), window("B", 1)),
                            List.of(window("TWICE_A", 2), window("TWICE_B", 3))))
                    .isEmpty();

            assertThat(client.read(2 * BYTES, (int) BYTES)).isEqualTo(numbers(200, 6));
            assertThat(client.read(3 * BYTES, (int) BYTES)).isEqualTo(numbers(-14, 10));
            if (Files.exists(counts.file())) {
                assertThat(counts.count(Count.LAUNCHES)).isEqualTo(launches + 2);
                // The client is trusted: its inputs are read where they are and the results written there; tensors
                // between steps are copied from the GPU and back.
                assertThat(counts.count(Count.COPIED_BYTES)).isEqualTo(copied + 4 * BYTES);
            }
            protocol.unregister("gpu");
        }
        awaitNoMappings();
    }

    @Test
    void shouldRememberResponsesToTensorsOnTheGpu() throws Exception {
        RegionClient protocol = new RegionClient.Http(http);
        try (CudaClient client = CudaClient.launch(0, 4 * BYTES)) {
            client.write(0, numbers(1, 1));
            client.write(BYTES, numbers(2, 2));
            assertThat(protocol.register("gpu", client.handle(), 0, 4 * BYTES)).isEmpty();

            for (int i = 0; i < 3; i++) {
                client.write(2 * BYTES, new byte[(int) (2 * BYTES)]);
                assertThat(protocol.infer(
                                "remembered_gpu",
                                List.of(window("INPUT0", 0), window("INPUT1", 1)),
                                List.of(window("OUTPUT0", 2), window("OUTPUT1", 3))))
                        .isEmpty();
                assertThat(client.read(2 * BYTES, (int) BYTES)).isEqualTo(numbers(3, 3));
                assertThat(client.read(3 * BYTES, (int) BYTES)).isEqualTo(numbers(-1, -1));
            }
            assertThat(http.metric("nv_inference_exec_count{model=\"remembered_gpu\",version=\"1\"}"))
                    .isEqualTo(1);

            client.write(0, numbers(5, 1));
            assertThat(protocol.infer(
                            "remembered_gpu",
                            List.of(window("INPUT0", 0), window("INPUT1", 1)),
                            List.of(window("OUTPUT0", 2), window("OUTPUT1", 3))))
                    .isEmpty();
            assertThat(client.read(2 * BYTES, (int) BYTES)).isEqualTo(numbers(7, 3));
            protocol.unregister("gpu");
        }
        awaitNoMappings();
    }

    @Test
    void shouldTellOfTheMemoryOfGpus() {
        assertThat(http.metric("gatun_gpu_pool_total_bytes{gpu=\"0\"}")).isPositive();
        assertThat(http.metric("gatun_gpu_pool_used_bytes{gpu=\"0\"}")).isZero();
        assertThat(http.metric("gatun_gpu_failed{gpu=\"0\"}")).isZero();
    }

    private static void awaitNoMappings() throws InterruptedException {
        Await.until("regions to be closed", () -> counts.count(CudaStandIn.Count.MAPPINGS) == 0);
    }
}
