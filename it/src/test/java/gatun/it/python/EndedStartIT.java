// SPDX-License-Identifier: Apache-2.0
package gatun.it.python;

import static gatun.it.python.PythonModels.input;
import static gatun.it.python.PythonModels.output;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models whose {@code initialize} never returns, in every way: an unload, the time limit and the stop end them. */
@Timeout(240)
class EndedStartIT {
    private static final String CONFIGURATION = input("X", "FP32", "1") + output("Y", "FP32", "1");

    private static final String MODEL = """
            import ctypes, os, signal, time
            import triton_python_backend_utils as pb_utils

            class TritonPythonModel:
                def initialize(self, args):
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    if not os.path.exists(MARK):
                        open(MARK, "w").close()
                        if FIRST:
                            return
                    elif not FIRST:
                        return
                    HANG

                def execute(self, requests):
                    os._exit(5)
            """;

    private static final Map<String, String> HANGS = Map.of(
            "sleeping", "\n".concat("        while True: time.sleep(1)"),
            "spinning", "\n".concat("        while True: pass"),
            "native", "\n".concat("        ctypes.PyDLL(None).sleep(100000)"));

    @TempDir
    private Path folder;

    private PythonModels models;

    @BeforeEach
    void prepare() {
        models = new PythonModels(folder.resolve("models"));
    }

    private Path mark(String model) {
        return folder.resolve(model + ".mark");
    }

    /** @param laterOnly whether the first start returns, and the next one hangs */
    private void write(String model, String hang, boolean laterOnly) {
        models.write(
                model,
                CONFIGURATION,
                MODEL.replace("MARK", "'" + mark(model) + "'")
                        .replace("FIRST", laterOnly ? "True" : "False")
                        .replace("        HANG", hang));
    }

    private void writeAll() {
        HANGS.forEach((model, hang) -> write(model, hang, false));
    }

    private ServerProcess launch(String... more) throws InterruptedException {
        String[] flags = new String[more.length + 2];
        flags[0] = PythonModels.executable();
        flags[1] = "--model-control-mode=explicit";
        System.arraycopy(more, 0, flags, 2, more.length);
        return ServerProcess.launch(folder.resolve("models"), flags).expectErrors();
    }

    private static HttpResponse<String> load(HttpApi http, String model) {
        return http.post("/v2/repository/models/" + model + "/load", "{}");
    }

    private static HttpResponse<String> unload(HttpApi http, String model) {
        return http.post("/v2/repository/models/" + model + "/unload", "{}");
    }

    private void awaitStart(String model) {
        Await.until(model + " hangs", () -> Files.exists(mark(model)));
    }

    private static void awaitNoWorkers(ServerProcess server) {
        Await.until(
                "no worker is left", () -> server.descendants("gatun_worker.py").isEmpty());
    }

    @Test
    void shouldEndByAnUnload() throws Exception {
        writeAll();
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server)) {
            for (String model : HANGS.keySet()) {
                CompletableFuture<HttpResponse<String>> loading =
                        CompletableFuture.supplyAsync(() -> load(http, model));
                awaitStart(model);
                assertThat(unload(http, model).statusCode()).isEqualTo(200);
                assertThat(loading.join().statusCode()).isEqualTo(400);
                assertThat(loading.join().body())
                        .contains("the model was unloaded meanwhile")
                        .doesNotContain("abandoned");
                awaitNoWorkers(server);
                assertThat(load(http, model).statusCode())
                        .as("it does not hang again")
                        .isEqualTo(200);
                assertThat(unload(http, model).statusCode()).isEqualTo(200);
            }
        }
    }

    @Test
    void shouldEndAtTheTimeLimit() throws Exception {
        writeAll();
        try (ServerProcess server = launch("--model-load-timeout-secs=5");
                HttpApi http = new HttpApi(server)) {
            for (String model : HANGS.keySet()) {
                assertThat(load(http, model).body())
                        .contains("it took longer than --model-load-timeout-secs=5 allows")
                        .doesNotContain("abandoned");
                assertThat(http.post("/v2/repository/index", "").body())
                        .contains("it took longer than --model-load-timeout-secs=5 allows");
            }
            awaitNoWorkers(server);
        }
    }

    /** Has every model be loaded; returns when all of them hang. */
    private List<CompletableFuture<Boolean>> beginLoads(HttpApi http) {
        List<CompletableFuture<Boolean>> loading = HANGS.keySet().stream()
                .map(model ->
                        CompletableFuture.supplyAsync(() -> load(http, model)).handle((response, failure) -> true))
                .toList();
        HANGS.keySet().forEach(this::awaitStart);
        return loading;
    }

    @Test
    void shouldEndWithTheServer() throws Exception {
        writeAll();
        List<ProcessHandle> workers;
        try (ServerProcess server = launch("--exit-timeout-secs=30");
                HttpApi http = new HttpApi(server)) {
            List<CompletableFuture<Boolean>> loading = beginLoads(http);
            workers = server.descendants("gatun_worker.py");
            assertThat(workers).hasSize(3);
            server.terminate();
            assertThat(server.awaitExit(Duration.ofSeconds(25))).isZero();
            loading.forEach(CompletableFuture::join);
        }
        workers.forEach(worker -> worker.onExit().join());
    }

    @Test
    void shouldEndWithAServerThatIsKilled() throws Exception {
        writeAll();
        List<ProcessHandle> workers;
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server)) {
            List<CompletableFuture<Boolean>> loading = beginLoads(http);
            workers = server.descendants("gatun_worker.py");
            assertThat(workers).hasSize(3);
            server.handle().destroyForcibly();
            server.handle().onExit().join();
            loading.forEach(CompletableFuture::join);
        }
        workers.forEach(worker -> worker.onExit().join());
    }

    @Test
    void shouldEndWhereAWorkerIsStartedAgain() throws Exception {
        write("dying", HANGS.get("sleeping"), true);
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server)) {
            assertThat(load(http, "dying").statusCode()).isEqualTo(200);
            String request = "{\"inputs\":[{\"name\":\"X\",\"datatype\":\"FP32\",\"shape\":[1],\"data\":[1]}]}";
            assertThat(http.post("/v2/models/dying/infer", request).body()).contains("exited with status 5");
            Await.until("the next start hangs", () -> !server.descendants("gatun_worker.py")
                    .isEmpty());
            assertThat(unload(http, "dying").statusCode()).isEqualTo(200);
            awaitNoWorkers(server);
        }
    }
}
