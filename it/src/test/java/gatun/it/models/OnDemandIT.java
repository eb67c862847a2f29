// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A real server with more models than fit into the memory that they may take. */
@Timeout(120)
class OnDemandIT {
    private static final int MODELS = 40;
    private static final int ROOM = 5;

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(OnDemandIT::start);

    private static final HttpApi http = server.http();

    private static ServerProcess start() throws Exception {
        ModelRepositoryFolder repository = new ModelRepositoryFolder(folder);
        for (int i = 0; i < MODELS; i++) {
            repository.simple("m" + i, "", 1);
        }
        repository.simple("broken", "", 1);
        Path file = folder.resolve("m0/1/model.onnx");
        Files.writeString(folder.resolve("broken/1/model.onnx"), "no model");
        return ServerProcess.launch(folder, "--model-memory-limit=" + ROOM * Files.size(file));
    }

    private static void infer(int model) {
        HttpResponse<String> response = http.post("/v2/models/m" + model + "/infer", SimpleModel.json());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.body()).contains(SimpleModel.jsonData(SimpleModel.SUM));
    }

    private static long threads() throws Exception {
        try (Stream<Path> threads = Files.list(
                Path.of("/proc", Long.toString(server.process().handle().pid()), "task"))) {
            return threads.count();
        }
    }

    @Test
    void shouldServeAllModelsInTheMemoryOfAFew() throws Exception {
        List<Future<?>> clients = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
            for (int client = 0; client < 4; client++) {
                int first = 10 * client;
                clients.add(threads.submit(() -> {
                    for (int i = 0; i < 2 * MODELS; i++) {
                        infer((first + i) % MODELS);
                    }
                }));
            }
        }
        for (Future<?> client : clients) {
            client.get();
        }
        // Of several who make room at once, one may have made it for a model that another has loaded meanwhile.
        for (int model = 0; model < ROOM; model++) {
            infer(model);
        }
        assertThat(http.metric("gatun_models_in_memory")).isEqualTo(ROOM);
        assertThat(http.metric("gatun_model_memory_used_bytes"))
                .isEqualTo(http.metric("gatun_model_memory_limit_bytes"));
        assertThat(http.metric("gatun_model_evictions"))
                .isBetween(MODELS - ROOM + 0.0, http.metric("gatun_model_loads_on_demand"));
        assertThat(http.get("/v2/models/m7/stats").body()).contains("\"success\":{\"count\":8,");
        assertThat(threads()).as("those of 40 models with two instances each").isLessThan(100);
    }

    @Test
    void shouldLoadForGrpcToo() throws Exception {
        try (GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            assertThat(grpc.service()
                            .modelInfer(SimpleModel.grpc().toBuilder()
                                    .setModelName("m3")
                                    .build())
                            .getModelName())
                    .isEqualTo("m3");
        }
    }

    @Test
    void shouldStayReadyWhenOneModelCannotBeLoaded() {
        HttpResponse<String> first = http.post("/v2/models/broken/infer", SimpleModel.json());
        assertThat(first.statusCode()).isEqualTo(503);
        assertThat(first.body()).contains("model 'broken' version 1 could not be loaded when it was asked: ");
        HttpResponse<String> second = http.post("/v2/models/broken/infer", SimpleModel.json());
        assertThat(second.statusCode())
                .as("as of any model that could not be loaded")
                .isEqualTo(404);
        assertThat(http.post("/v2/repository/index", "").body())
                .contains("\"name\":\"broken\",\"version\":\"1\",\"state\":\"UNAVAILABLE\"");
        assertThat(http.get("/v2/models/broken/ready").statusCode()).isEqualTo(400);
        assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(200);
        infer(1);
    }
}
