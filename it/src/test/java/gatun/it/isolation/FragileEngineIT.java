// SPDX-License-Identifier: Apache-2.0
package gatun.it.isolation;

import static gatun.it.isolation.FragileModels.infer;
import static gatun.it.isolation.FragileModels.parameter;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Engines that crash, hang and take too much, in processes of their own: what they had to answer fails at once with the
 * reason, others' requests go on, and they are started again.
 */
@Timeout(240)
class FragileEngineIT {
    @TempDir
    private Path folder;

    private FragileModels models;

    @BeforeEach
    void prepare() throws IOException {
        models = new FragileModels(folder);
    }

    private ServerProcess launch(String... flags) throws InterruptedException {
        String[] all = new String[flags.length + 2];
        all[0] = "--backend-directory=" + models.backends();
        all[1] = "--isolate=fragile";
        System.arraycopy(flags, 0, all, 2, flags.length);
        ServerProcess server = ServerProcess.launch(models.repository(), all);
        server.expectErrors();
        return server;
    }

    private static List<ProcessHandle> workers(ServerProcess server) {
        return server.descendants("engine-process");
    }

    @Test
    void shouldNotStartWhenItIsToIsolateWhatIsNotThere() throws IOException {
        models.model("steady");
        ServerProcess refused =
                ServerProcess.run("serve", "--model-repository=" + models.repository(), "--isolate=onnx-runtime");
        assertThat(refused.awaitExit(Duration.ofSeconds(20))).isNotZero();
        assertThat(refused.log()).contains("--isolate names backend 'onnx-runtime'", "known: ", "onnxruntime");
    }

    @Test
    void shouldTellHowAnEngineCrashedAndServeOn() throws Exception {
        models.model("broken").model("steady");
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "broken", 9).body()).contains("[9.0]");
            HttpResponse<String> crashed = infer(http, "broken", FragileBackend.READ_ADDRESS_0);
            assertThat(crashed.statusCode()).isEqualTo(500);
            assertThat(crashed.body()).contains("model instance 'broken_0_0'", "crashed with SIGSEGV");
            assertThat(infer(http, "steady", 10).body()).contains("[10.0]");
            // The first time it is started again at once, and the request waits for it.
            assertThat(infer(http, "broken", 11).body()).contains("[11.0]");
            assertThat(infer(http, "broken", FragileBackend.EXIT).body()).contains("exited with status 5");
            HttpResponse<String> early = infer(http, "broken", 12);
            assertThat(early.statusCode()).isEqualTo(503);
            assertThat(early.body()).contains("has ended 2 times within a minute", "is started again in");
            Await.until("it runs again", () -> infer(http, "broken", 12).statusCode() == 200);
            assertThat(http.metric("gatun_worker_deaths{instance=\"broken_0_0\",model=\"broken\",reason=\"signal\"}"))
                    .isEqualTo(1);
            assertThat(http.metric("gatun_worker_deaths{instance=\"broken_0_0\",model=\"broken\",reason=\"exit\"}"))
                    .isEqualTo(1);
            assertThat(http.metric("gatun_worker_restarts{instance=\"broken_0_0\",model=\"broken\"}"))
                    .isEqualTo(2);
            assertThat(infer(http, "broken", FragileBackend.ABORT).body()).contains("SIGABRT");
            assertThat(infer(http, "steady", 13).body()).contains("[13.0]");
            assertThat(http.metric("gatun_worker_deaths{instance=\"steady_0_0\",model=\"steady\",reason=\"signal\"}"))
                    .isZero();
        }
    }

    @Test
    void shouldPassOnWhatIsNoCrash() throws Exception {
        models.model("m");
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server)) {
            HttpResponse<String> refused = infer(http, "m", FragileBackend.FAIL);
            assertThat(refused.statusCode()).isEqualTo(400);
            assertThat(refused.body()).contains("the engine says no");
            HttpResponse<String> broken = infer(http, "m", FragileBackend.THROW);
            assertThat(broken.statusCode()).isEqualTo(500);
            assertThat(broken.body()).contains("model 'm' failed unexpectedly; the server's log says more");
            // What an engine prints does not get among the frames.
            assertThat(infer(http, "m", FragileBackend.SAY_MUCH).body()).contains("[8.0]");
            assertThat(http.metric("gatun_worker_deaths{instance=\"m_0_0\",model=\"m\",reason=\"signal\"}"))
                    .isZero();
            assertThat(server.log()).contains("a bug", "frames do not go this way");
        }
    }

    @Test
    void shouldEndAnEngineThatHangs() throws Exception {
        models.model("m", parameter("execution_timeout_ms", "500"));
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "m", FragileBackend.WAIT).body())
                    .contains("was ended by the server", "a run took longer than execution_timeout_ms, 500");
            assertThat(infer(http, "m", 9).body()).contains("[9.0]");
        }
    }

    @Test
    void shouldEndAnEngineThatTakesTooMuchMemory() throws Exception {
        models.model("m", parameter("isolation_memory_limit", Integer.toString(700 << 20)));
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "m", FragileBackend.TAKE_MEMORY).body())
                    .contains("was ended by the server", "is more than isolation_memory_limit, " + (700 << 20));
            assertThat(infer(http, "m", 9).body()).contains("[9.0]");
        }
    }

    @Test
    void shouldStopARunThatNobodyWantsAnyMore() throws Exception {
        models.model("m");
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server);
                HttpClient leaving = HttpClient.newHttpClient()) {
            CompletableFuture<?> stuck = leaving.sendAsync(
                    HttpRequest.newBuilder(http.uri("/v2/models/m/infer"))
                            .POST(HttpRequest.BodyPublishers.ofString(FragileModels.request(FragileBackend.WAIT)))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            Await.until("the engine runs", () -> Files.exists(models.mark()));
            assertThat(stuck.cancel(true)).isTrue();
            assertThat(infer(http, "m", 9).body()).contains("[9.0]");
            assertThat(http.metric("gatun_worker_deaths{instance=\"m_0_0\",model=\"m\",reason=\"signal\"}"))
                    .isZero();
        }
    }

    @Test
    void shouldServeOthersThoughAModelsFilesCrashTheEngine() throws Exception {
        models.model("crashing", parameter("load", "crash"))
                .model("wrong", parameter("load", "fail"))
                .model("steady");
        try (ServerProcess server = launch("--exit-on-error=false");
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "steady", 9).body()).contains("[9.0]");
            assertThat(http.post("/v2/repository/index", "").body())
                    .contains("did not survive its files", "SIGSEGV", "the model's file is no model");
            assertThat(http.get("/v2/models/crashing/ready").statusCode()).isEqualTo(400);
        }
    }

    @Test
    void shouldHaveOneProcessForAllInstancesWhereTheModelWantsIt() throws Exception {
        models.model("m", parameter("isolation_scope", "model"));
        Path config = models.repository().resolve("m/config.pbtxt");
        Files.writeString(config, Files.readString(config).replace("count: 1", "count: 3"));
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "m", 9).body()).contains("[9.0]");
            assertThat(workers(server)).hasSize(1);
            assertThat(infer(http, "m", FragileBackend.EXIT).body()).contains("exited with status 5");
            for (int i = 0; i < 6; i++) {
                assertThat(infer(http, "m", 20 + i).body()).contains("[2" + i + ".0]");
            }
        }
    }

    @Test
    void shouldLeaveNoProcessBehindWhenTheServerIsKilled() throws Exception {
        models.model("m").model("n");
        List<ProcessHandle> workers;
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server)) {
            CompletableFuture<HttpResponse<String>> stuck =
                    CompletableFuture.supplyAsync(() -> infer(http, "m", FragileBackend.WAIT));
            Await.until("the engine runs", () -> Files.exists(models.mark()));
            workers = workers(server);
            assertThat(workers).hasSize(2);
            assertThat(server.handle().destroyForcibly()).isTrue();
            for (ProcessHandle worker : workers) {
                worker.onExit().join();
            }
            server.handle().onExit().join();
            assertThat(stuck).isCompletedExceptionally();
        }
        assertThat(workers).noneMatch(ProcessHandle::isAlive);
    }

    @Test
    void shouldRunWhereTheModelSaysItItself() throws Exception {
        models.model("here", parameter("isolation", "none")).model("apart");
        try (ServerProcess server = launch();
                HttpApi http = new HttpApi(server)) {
            assertThat(infer(http, "here", 9).body()).contains("[9.0]");
            assertThat(infer(http, "apart", 9).body()).contains("[9.0]");
            assertThat(workers(server)).hasSize(1);
        }
    }

    @Test
    void shouldRefuseSettingsThatMeanNothing() throws Exception {
        models.model("a", parameter("isolation", "thread"))
                .model("b", parameter("isolation_scope", "all"))
                .model("c", parameter("isolation_nice", "20"))
                .model("d", parameter("isolation_cores", "0; rm -rf /"))
                .model("e", parameter("isolation_memory_limit", "1"));
        try (ServerProcess server = launch("--exit-on-error=false");
                HttpApi http = new HttpApi(server)) {
            assertThat(http.post("/v2/repository/index", "").body())
                    .contains(
                            "parameter 'isolation' is 'thread', expected process or none",
                            "parameter 'isolation_scope' is 'all', expected instance or model",
                            "parameter 'isolation_nice' is '20', expected a number from 0 to 19",
                            "parameter 'isolation_cores' is '0; rm -rf /', expected numbers of cores and ranges",
                            "parameter 'isolation_memory_limit' is '1', expected a number from 67108864 to");
        }
    }
}
