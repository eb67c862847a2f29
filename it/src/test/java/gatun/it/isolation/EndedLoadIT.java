// SPDX-License-Identifier: Apache-2.0
package gatun.it.isolation;

import static gatun.it.isolation.FragileModels.infer;
import static gatun.it.isolation.FragileModels.parameter;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Loads in engines that do not return: in a process of its own the engine is killed, in the server the load is abandoned.
 * Neither holds up an unload, another model or the stop.
 */
@Timeout(240)
class EndedLoadIT {
    private static final String WARM_UP = """
            model_warmup { name: "zero" batch_size: 1 inputs { key: "X" value { data_type: TYPE_FP32 dims: [1] zero_data: true } } }
            """;

    private static final String ISOLATED = parameter("isolation", "process");

    @TempDir
    private Path folder;

    private FragileModels models;

    @BeforeEach
    void prepare() throws IOException {
        models = new FragileModels(folder);
    }

    private String[] flags(String... more) {
        List<String> flags = new ArrayList<>(List.of("--backend-directory=" + models.backends()));
        flags.addAll(List.of(more));
        return flags.toArray(String[]::new);
    }

    private ServerProcess explicit(String... more) throws InterruptedException {
        List<String> flags = new ArrayList<>(List.of(flags(more)));
        flags.addAll(List.of("--model-control-mode=explicit", "--model-load-thread-count=1"));
        return ServerProcess.launch(models.repository(), flags.toArray(String[]::new))
                .expectErrors();
    }

    private static HttpResponse<String> load(HttpApi http, String model) {
        return http.post("/v2/repository/models/" + model + "/load", "{}");
    }

    private static HttpResponse<String> unload(HttpApi http, String model) {
        return http.post("/v2/repository/models/" + model + "/unload", "{}");
    }

    private static String index(HttpApi http) {
        return http.post("/v2/repository/index", "").body();
    }

    private void awaitHang(int count) {
        Await.until("loads hang", () -> {
            try (var files = Files.list(folder)) {
                return files.filter(file -> file.toString().endsWith(".hangs")).count() == count;
            }
        });
    }

    private String mark(String model) {
        return parameter("mark", folder.resolve(model).toString());
    }

    private void model(String name, String load, String... more) throws IOException {
        models.unmarkedModel(name, mark(name), parameter("load", load), String.join("\n", more));
    }

    private void release(String model) throws IOException {
        Files.createFile(folder.resolve(model + ".returns"));
    }

    @Test
    void shouldAbandonALoadInTheServerThatIsUnloaded() throws Exception {
        model("stuck", "hang");
        models.model("steady");
        try (ServerProcess server = explicit();
                HttpApi http = new HttpApi(server)) {
            CompletableFuture<HttpResponse<String>> loading = CompletableFuture.supplyAsync(() -> load(http, "stuck"));
            awaitHang(1);
            assertThat(unload(http, "stuck").statusCode()).isEqualTo(200);
            assertThat(loading.join().statusCode()).isEqualTo(400);
            assertThat(loading.join().body())
                    .contains(
                            "load failed for model 'stuck'",
                            "the model was unloaded meanwhile",
                            "the load is abandoned");
            assertThat(index(http)).contains("\"name\":\"stuck\"", "UNAVAILABLE", "the load is abandoned");
            assertThat(server.log()).contains("The load of model 'stuck' version 1 is abandoned");
            assertThat(load(http, "steady").statusCode()).isEqualTo(200);
            assertThat(infer(http, "steady", 9).body()).contains("[9.0]");
            assertThat(load(http, "stuck").body()).contains("an earlier load of version 1, which was abandoned");

            release("stuck");
            Await.until("it has returned", () -> server.log()
                    .contains("The abandoned load of model 'stuck' version 1 has"));
            assertThat(load(http, "stuck").statusCode()).isEqualTo(200);
            assertThat(infer(http, "stuck", 11).body()).contains("[11.0]");
        }
    }

    @Test
    void shouldAbandonLoadsAtTheirTimeLimitAndStop() throws Exception {
        model("file", "hang");
        model("instance", "hang-instance");
        model("run", "hang-run", WARM_UP);
        models.model("steady");
        try (ServerProcess server = explicit("--model-load-timeout-secs=1", "--exit-timeout-secs=5");
                HttpApi http = new HttpApi(server)) {
            for (String model : List.of("file", "instance", "run")) {
                assertThat(load(http, model).body())
                        .contains("it took longer than --model-load-timeout-secs=1 allows", "the load is abandoned");
            }
            assertThat(load(http, "steady").statusCode()).isEqualTo(200);
            assertThat(infer(http, "steady", 9).body()).contains("[9.0]");
            server.terminate();
            assertThat(server.awaitExit(Duration.ofSeconds(30))).isZero();
        }
    }

    @Test
    void shouldEndLoadsWithTheServer() throws Exception {
        model("stuck", "hang");
        try (ServerProcess server = explicit("--exit-timeout-secs=30");
                HttpApi http = new HttpApi(server)) {
            CompletableFuture<HttpResponse<String>> loading = CompletableFuture.supplyAsync(() -> load(http, "stuck"));
            awaitHang(1);
            server.terminate();
            assertThat(server.awaitExit(Duration.ofSeconds(25))).isZero();
            assertThat(loading.handle((response, failure) -> true).join()).isTrue();
        }
    }

    @Test
    void shouldStopDuringAStartThatHangs() throws Exception {
        model("stuck", "hang");
        try (ServerProcess server = ServerProcess.start(
                List.of(
                        "serve",
                        "--http-port=0",
                        "--grpc-port=0",
                        "--metrics-port=0",
                        "--backend-directory=" + models.backends(),
                        "--model-repository=" + models.repository()),
                Map.of())) {
            awaitHang(1);
            server.terminate();
            assertThat(server.awaitExit(Duration.ofSeconds(25))).isZero();
            assertThat(server.readyFileExists()).isFalse();
        }
    }

    @Test
    void shouldServeTheOthersWhereAModelHangsAtTheStart() throws Exception {
        model("stuck", "hang");
        models.model("steady");
        try (ServerProcess server = ServerProcess.launch(
                                models.repository(), flags("--exit-on-error=false", "--model-load-timeout-secs=1"))
                        .expectErrors();
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "steady", 9).body()).contains("[9.0]");
            assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(400);
            assertThat(http.get("/v2/health/live").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldKillTheProcessOfALoadThatHangs() throws Exception {
        model("file", "hang", ISOLATED);
        model("instance", "hang-instance", ISOLATED);
        model("run", "hang-run", ISOLATED, WARM_UP);
        try (ServerProcess server = explicit();
                HttpApi http = new HttpApi(server)) {
            int count = 0;
            for (String model : List.of("file", "instance", "run")) {
                CompletableFuture<HttpResponse<String>> loading =
                        CompletableFuture.supplyAsync(() -> load(http, model));
                awaitHang(++count);
                assertThat(unload(http, model).statusCode()).isEqualTo(200);
                assertThat(loading.join().body())
                        .contains("the model was unloaded meanwhile")
                        .doesNotContain("abandoned");
                assertThat(index(http)).doesNotContain("abandoned");
            }
            Await.until("their processes are gone", () -> server.descendants("engine-process")
                    .isEmpty());
        }
    }

    @Test
    void shouldKeepTheVersionThatServesWhenTheNextHangs() throws Exception {
        model("growing", "");
        try (ServerProcess server = explicit("--model-load-timeout-secs=1");
                HttpApi http = new HttpApi(server)) {
            assertThat(load(http, "growing").statusCode()).isEqualTo(200);
            model("growing", "hang");
            assertThat(load(http, "growing").body()).contains("the load is abandoned");
            assertThat(infer(http, "growing", 9).body()).contains("[9.0]");
            assertThat(index(http)).contains("\"state\":\"READY\"", "the load is abandoned");
            assertThat(unload(http, "growing").statusCode()).isEqualTo(200);
        }
    }
}
