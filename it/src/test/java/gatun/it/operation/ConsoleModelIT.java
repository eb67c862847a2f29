// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static gatun.it.harness.ConsoleApi.encoded;
import static gatun.it.harness.ConsoleApi.find;
import static gatun.it.harness.ConsoleApi.path;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import gatun.it.harness.ConsoleApi;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.RawHttp;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the console's API tells of models, in the real server. */
@Timeout(120)
class ConsoleModelIT {
    private static final String ODD = "<script>alert(1)\"ü\u2028";
    private static final String ENCODED = "a b%41+<i>\"ü";
    private static final String INFER =
            "{\"id\":\"mine\",\"inputs\":[{\"name\":\"IN\",\"shape\":[1],\"datatype\":" + "\"INT32\",\"data\":[5]}]}";

    @TempDir
    private static Path folder;

    @AutoClose
    @SuppressWarnings("NullAway.Init") // by open
    private static ServerProcess server;

    @AutoClose
    @SuppressWarnings("NullAway.Init") // by open
    private static HttpApi http;

    @SuppressWarnings("NullAway.Init") // by open
    private static ConsoleApi console;

    @BeforeAll
    static void open() throws Exception {
        ModelRepositoryFolder models = new ModelRepositoryFolder(folder);
        models.delay("slow", 30);
        models.delay(ODD, 0);
        models.delay(ENCODED, 0);
        models.delay("slower", 3000);
        models.delay("warmed", 20);
        String warmUp = """
                model_warmup [ {
                    name: "long" batch_size: 1 count: 150
                    inputs { key: "IN" value: { data_type: TYPE_INT32 dims: [ 1 ] zero_data: true } } } ]
                """;
        String two = "instance_group [ { kind: KIND_CPU count: 2 } ]";
        models.config("warmed", Files.readString(folder.resolve("warmed/config.pbtxt")) + warmUp + two);
        models.config("slower", Files.readString(folder.resolve("slower/config.pbtxt")) + two);
        models.simple("simple", "", 1, 2);
        models.delay("apart", 0);
        models.config("apart", """
                backend: "delay"
                input [ { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] } ]
                output [ { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
                parameters { key: "isolation" value { string_value: "process" } }
                """);
        server = ServerProcess.launch(
                folder,
                "--model-control-mode=explicit",
                "--load-model=apart",
                "--load-model=slow",
                "--load-model=slower",
                "--load-model=simple",
                "--load-model=" + ODD);
        http = new HttpApi(server);
        console = new ConsoleApi(http);
    }

    @Test
    void shouldTellOfProcessesThatServeModels() {
        server.expectErrors();
        Await.until("the memory of a process", () -> console.model("apart").has("memoryBytes"));
        assertThat(console.model("apart").get("memoryIs").getAsString()).isEqualTo("resident");
        assertThat(console.model("slow").has("memoryBytes")).isFalse();
        assertThat(console.model("simple").get("memoryIs").getAsString()).isEqualTo("estimated");
        assertThat(console.model("simple").get("memoryBytes").getAsLong()).isPositive();
        server.descendants("engine-process").forEach(ProcessHandle::destroyForcibly);
        Await.until("an alert", () -> find(console.overview().getAsJsonArray("alerts"), "code", "worker-restarted")
                .isPresent());
        JsonObject alert = find(console.overview().getAsJsonArray("alerts"), "code", "worker-restarted")
                .orElseThrow();
        assertThat(alert.get("subject").getAsString()).isEqualTo("apart");
        assertThat(alert.get("text").getAsString()).contains("started again 1 time in the last 30 s");
        assertThat(alert.get("advice").getAsString()).contains("isolation_memory_limit");
    }

    @Test
    void shouldTellWhereTensorsInSharedMemoryAreTouched() {
        JsonObject delayed = sharedMemory("slow", "inputs");
        assertThat(delayed.get("inPlace").getAsBoolean()).isTrue();
        JsonObject isolated = sharedMemory("apart", "outputs");
        assertThat(isolated.get("inPlace").getAsBoolean()).isFalse();
        assertThat(isolated.get("reason").getAsString()).isEqualTo("the engine is in a process with memory of its own");
    }

    private static JsonObject sharedMemory(String model, String tensors) {
        return console.json(path(model))
                .getAsJsonArray(tensors)
                .get(0)
                .getAsJsonObject()
                .getAsJsonObject("sharedMemory");
    }

    @Test
    void shouldTellAllOfAModelWhoseNameIsMarkup() throws Exception {
        assertThat(console.model(ODD).get("state").getAsString()).isEqualTo("READY");
        assertThat(console.get("/v2/console/overview").headers().firstValue("x-content-type-options"))
                .hasValue("nosniff");
        assertThat(console.json(path(ODD)).get("name").getAsString()).isEqualTo(ODD);
        assertThat(console.json(path(ODD) + "/versions/1/history").get("points").getAsInt())
                .isEqualTo(3600);
        assertThat(console.json(path(ODD) + "/slowest").getAsJsonArray("requests"))
                .isEmpty();
        try (RawHttp raw =
                RawHttp.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), server.httpPort()))) {
            raw.send("GET /v2/console/models/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    .readBody("HTTP/1.1 400");
        }
        assertThat(console.get(path("absent")).statusCode()).isEqualTo(404);
        assertThat(console.get(path("absent") + "/versions/7/history").statusCode())
                .isEqualTo(404);
        assertThat(console.get("/v2/console/none").statusCode()).isEqualTo(404);
        assertThat(http.post("/v2/console/overview", "").statusCode()).isEqualTo(405);
    }

    @Test
    void shouldAskAndLoadAModelWhoseNameIsEncodedInPaths() {
        String name = encoded(ENCODED);
        assertThat(http.post("/v2/repository/models/" + name + "/load", "").statusCode())
                .isEqualTo(200);
        assertThat(console.model(ENCODED).get("state").getAsString()).isEqualTo("READY");
        JsonObject answer = JsonParser.parseString(
                        http.post("/v2/models/" + name + "/infer", INFER).body())
                .getAsJsonObject();
        assertThat(answer.get("model_name").getAsString()).isEqualTo(ENCODED);
        assertThat(http.post("/v2/repository/models/" + name + "/unload", "").statusCode())
                .isEqualTo(200);
        Await.until(
                "the unload",
                () -> console.model(ENCODED).get("state").getAsString().equals("UNAVAILABLE"));
        HttpResponse<String> outside = http.post("/v2/repository/models/..%2F..%2Fsimple/load", "");
        assertThat(outside.statusCode()).as(outside.body()).isEqualTo(400);
        assertThat(outside.body()).contains("../../simple");
    }

    @Test
    void shouldTellHowFarALoadIs() {
        CompletableFuture<HttpResponse<String>> load =
                CompletableFuture.supplyAsync(() -> http.post("/v2/repository/models/warmed/load", ""));
        Await.until(
                "the phase", () -> Optional.ofNullable(console.model("warmed").getAsJsonObject("loading"))
                        .filter(loading -> loading.get("phase").getAsString().equals("warming-up"))
                        .isPresent());
        JsonObject warmed = console.model("warmed");
        assertThat(warmed.get("state").getAsString()).isEqualTo("LOADING");
        assertThat(warmed.get("loadingMillis").getAsLong()).isNotNegative();
        JsonObject loading = warmed.getAsJsonObject("loading");
        assertThat(loading.get("instances").getAsInt()).isEqualTo(2);
        assertThat(loading.get("instancesReady").getAsInt()).isBetween(0, 1);
        assertThat(load.join().statusCode()).isEqualTo(200);
        assertThat(console.model("warmed").has("loading")).isFalse();
    }

    @Test
    void shouldTellWhichInstancesAreBusy() {
        CompletableFuture<HttpResponse<String>> answer =
                CompletableFuture.supplyAsync(() -> http.post("/v2/models/slower/infer", INFER));
        Await.until(
                "a busy instance",
                () -> console.model("slower").get("busyInstances").getAsDouble() == 1);
        assertThat(console.model("slower").get("instances").getAsInt()).isEqualTo(2);
        assertThat(answer.join().statusCode()).isEqualTo(200);
        Await.until(
                "an idle one",
                () -> console.model("slower").get("busyInstances").getAsDouble() == 0);
        assertThat(console.json(path("slower") + "/history")
                        .getAsJsonObject("series")
                        .getAsJsonArray("busyInstances"))
                .anyMatch(value -> !value.isJsonNull() && value.getAsDouble() == 1);
    }

    @Test
    void shouldTellWhatAModelIsAndWhatOfItWasCompleted() {
        JsonObject simple = console.json(path("simple"));
        assertThat(simple.get("version").getAsString()).isEqualTo("2");
        JsonObject input = simple.getAsJsonArray("inputs").get(0).getAsJsonObject();
        assertThat(input.get("name").getAsString()).isEqualTo("INPUT0");
        assertThat(input.get("datatype").getAsString()).isEqualTo("INT32");
        assertThat(input.getAsJsonArray("shape")).hasSize(2);
        assertThat(simple.get("configuration").getAsString()).contains("instance_group");
        assertThat(find(simple.getAsJsonArray("completed"), "path", "version_policy")
                        .orElseThrow()
                        .get("why")
                        .getAsString())
                .isEqualTo("the server's default");
        assertThat(simple.getAsJsonArray("instanceGroups")).isNotEmpty();
    }

    @Test
    void shouldTellWhatRequestsDidAndHowLongTheSlowestOfThemTook() {
        for (int i = 0; i < 3; i++) {
            assertThat(http.post("/v2/models/slow/infer", INFER).statusCode()).isEqualTo(200);
        }
        Await.until("durations", () -> console.model("slow").has("p50Nanos"));
        assertThat(console.model("slow").get("p50Nanos").getAsLong()).isGreaterThan(25_000_000);
        JsonObject slow = console.json(path("slow"));
        JsonObject origin =
                find(slow.getAsJsonArray("origins"), "transport", "http").orElseThrow();
        assertThat(origin.get("requests").getAsInt()).isGreaterThanOrEqualTo(3);
        assertThat(origin.getAsJsonObject("stages")
                        .getAsJsonObject("computeInfer")
                        .get("p99Nanos")
                        .getAsLong())
                .isGreaterThan(25_000_000);
        assertThat(slow.getAsJsonArray("batchSizes")
                        .get(0)
                        .getAsJsonObject()
                        .get("count")
                        .getAsInt())
                .isPositive();

        JsonObject slowest = console.json(path("slow") + "/slowest")
                .getAsJsonArray("requests")
                .get(0)
                .getAsJsonObject();
        assertThat(slowest.get("requestId").getAsString()).isEqualTo("mine");
        assertThat(slowest.get("bytesIn").getAsLong()).isEqualTo(INFER.length());
        assertThat(slowest.get("bytesOut").getAsLong()).isPositive();
        JsonArray stages = slowest.getAsJsonArray("stages");
        assertThat(stages).hasSize(6);
        long sum = 0;
        for (JsonElement stage : stages) {
            assertThat(stage.getAsJsonObject().get("startNanos").getAsLong()).isNotNegative();
            sum += stage.getAsJsonObject().get("nanos").getAsLong();
        }
        assertThat(sum).isLessThanOrEqualTo(slowest.get("totalNanos").getAsLong());
        assertThat(slowest.toString()).doesNotContain("[5]");

        JsonObject history = console.json(path("slow") + "/history");
        double requests = 0;
        for (JsonElement value : history.getAsJsonObject("series").getAsJsonArray("requestsPerSecond")) {
            requests += value.isJsonNull() ? 0 : value.getAsDouble();
        }
        assertThat(requests).isPositive();
        assertThat(history.getAsJsonObject("byTransport").has("http")).isTrue();
    }

    @Test
    void shouldTellWhyTheLastRequestsFailed() {
        console.json(path("simple")); // Single requests are watched from then on.
        for (int i = 0; i < 3; i++) {
            assertThat(http.post("/v2/models/simple/infer", INFER).statusCode()).isEqualTo(400);
        }
        Await.until("the failures", () -> find(lastFailures(), "count", "3").isPresent());
        assertThat(lastFailures()).hasSize(1);
        JsonObject failure = lastFailures().get(0).getAsJsonObject();
        assertThat(failure.get("atMillis").getAsLong()).isPositive();
        assertThat(failure.get("code").getAsString()).isEqualTo("INVALID_ARGUMENT");
        assertThat(failure.get("reason").getAsString()).isEqualTo("OTHER");
        assertThat(failure.get("text").getAsString()).contains("IN");
    }

    private static JsonArray lastFailures() {
        return console.json(path("simple")).getAsJsonArray("lastFailures");
    }

    @Test
    void shouldTellOfTheServerAndItsBusyVersionsInAsManyPointsWhateverTheRange() {
        assertThat(http.post("/v2/models/slow/infer", INFER).statusCode()).isEqualTo(200);
        for (String minutes : List.of("5", "15", "60")) {
            String path = "/v2/console/trends?minutes=" + minutes;
            Await.until("the version", () -> find(console.json(path).getAsJsonArray("versions"), "name", "slow")
                    .isPresent());
            JsonObject trends = console.json(path);
            assertThat(trends.get("minutes").getAsString()).isEqualTo(minutes);
            JsonObject whole = trends.getAsJsonObject("server");
            assertThat(whole.get("stepMillis").getAsLong() * 300).isEqualTo(Long.parseLong(minutes) * 60_000);
            for (String series : List.of("requestsPerSecond", "p50Nanos", "p99Nanos", "busyInstances")) {
                assertThat(whole.getAsJsonObject("series").getAsJsonArray(series))
                        .as(series)
                        .hasSize(300)
                        .anyMatch(value -> !value.isJsonNull() && value.getAsDouble() > 0);
            }
            JsonObject slow =
                    find(trends.getAsJsonArray("versions"), "name", "slow").orElseThrow();
            assertThat(slow.getAsJsonObject("series").getAsJsonArray("p99Nanos"))
                    .hasSize(60)
                    .anyMatch(value -> !value.isJsonNull() && value.getAsDouble() > 25e6);
        }
        assertThat(console.get("/v2/console/trends?minutes=7").statusCode()).isEqualTo(400);
    }
}
