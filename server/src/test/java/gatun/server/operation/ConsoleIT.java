// SPDX-License-Identifier: Apache-2.0
package gatun.server.operation;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import gatun.server.harness.GrpcClient;
import gatun.server.harness.HttpApi;
import gatun.server.harness.ModelRepositoryFolder;
import gatun.server.harness.RawHttp;
import gatun.server.harness.ServerProcess;
import gatun.server.harness.SharedObject;
import gatun.testing.Await;
import gatun.wire.inference.ServerLiveRequest;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The console's API in the real server: what it shows, who may see it, and what viewers can do to a server. */
@Timeout(120)
class ConsoleIT {
    private static final String ODD = "<script>alert(1)\"ü\u2028";
    private static final String ENCODED = "a b%41+<i>\"ü";
    private static final String INFER =
            "{\"id\":\"mine\",\"inputs\":[{\"name\":\"IN\",\"shape\":[1],\"datatype\":" + "\"INT32\",\"data\":[5]}]}";

    @TempDir
    private static Path folder;

    @SuppressWarnings("NullAway.Init") // by open
    private static ServerProcess server;

    @SuppressWarnings("NullAway.Init") // by open
    private static HttpApi http;

    @BeforeAll
    static void open() throws Exception {
        ModelRepositoryFolder models = new ModelRepositoryFolder(folder);
        models.delay("slow", 30);
        models.delay(ODD, 0);
        models.delay("unloaded", 0);
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
        models.delay("broken", 0);
        models.config("broken", "backend: \"delay\" input [ { name: \"IN\" data_type: TYPE_INT32 } ]");
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
                "--load-model=broken",
                "--load-model=" + ODD,
                "--exit-on-error=false",
                "--allow-client-shm=true");
        http = new HttpApi(server);
    }

    @AfterAll
    static void close() {
        http.close();
        server.close();
    }

    private static HttpResponse<String> get(String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(http.uri(path));
        return http.send(
                headers.length == 0 ? request : request.headers(headers), HttpResponse.BodyHandlers.ofString());
    }

    private static JsonObject json(String path) {
        HttpResponse<String> response = get(path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.headers().firstValue("content-type")).hasValue("application/json");
        return JsonParser.parseString(response.body()).getAsJsonObject();
    }

    private static JsonObject overview() {
        return json("/v2/console/overview");
    }

    private static Optional<JsonObject> find(JsonArray objects, String member, String value) {
        return StreamSupport.stream(objects.spliterator(), false)
                .map(JsonElement::getAsJsonObject)
                .filter(object -> object.get(member).getAsString().equals(value))
                .findFirst();
    }

    private static JsonObject model(String name) {
        return find(overview().getAsJsonArray("models"), "name", name).orElseThrow();
    }

    private static String path(String model) {
        return "/v2/console/models/" + encoded(model);
    }

    private static String encoded(String model) {
        return URLEncoder.encode(model, StandardCharsets.UTF_8).replace("+", "%20");
    }

    @Test
    void shouldShowBrowsersThePageAndTellOthersThatTheServerLives() {
        assertThat(get("/").body()).isEqualTo("{\"status\":\"alive\"}");
        assertThat(get("/", "Accept", "application/json").body()).isEqualTo("{\"status\":\"alive\"}");
        HttpResponse<String> page = get("/", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8");
        assertThat(page.body())
                .startsWith("<!doctype html>")
                .isEqualTo(get("/console").body());
        assertThat(page.headers().firstValue("content-type")).hasValue("text/html; charset=utf-8");
        assertThat(page.headers().firstValue("vary")).hasValue("Accept");
    }

    @Test
    void shouldSendThePageWithHeadersThatLetNothingElseIn() {
        HttpResponse<String> page = get("/console/index.html");
        assertThat(page.headers().firstValue("content-security-policy").orElse(""))
                .startsWith("default-src 'none'; script-src 'self'; style-src 'self';")
                .contains("frame-ancestors 'none'")
                .doesNotContain("unsafe");
        assertThat(page.headers().firstValue("x-frame-options")).hasValue("DENY");
        assertThat(page.headers().firstValue("x-content-type-options")).hasValue("nosniff");
        assertThat(page.headers().firstValue("referrer-policy")).hasValue("no-referrer");
        assertThat(page.headers().firstValue("cross-origin-opener-policy")).hasValue("same-origin");
        String tag = page.headers().firstValue("etag").orElseThrow();
        HttpResponse<String> again = get("/console/index.html", "If-None-Match", tag);
        assertThat(again.statusCode()).isEqualTo(304);
        assertThat(again.body()).isEmpty();
        for (String none : List.of(
                "/console/../history/Sampler.class",
                "/console/..%2fhistory",
                "/console/none.js",
                "/console/.html",
                "/console/a/b/c.js")) {
            assertThat(get(none).statusCode()).as(none).isEqualTo(404);
        }
    }

    @Test
    void shouldTellOfEachModelAndOfWhatIsWrong() {
        JsonObject overview = overview();
        JsonObject about = overview.getAsJsonObject("server");
        assertThat(about.get("controlMode").getAsString()).isEqualTo("explicit");
        assertThat(about.getAsJsonObject("actions").get("load").getAsBoolean()).isTrue();
        assertThat(about.get("live").getAsBoolean()).isTrue();
        assertThat(about.get("httpPort").getAsInt()).isEqualTo(server.httpPort());
        assertThat(about.get("grpcPort").getAsInt()).isEqualTo(server.grpcPort());
        JsonArray models = overview.getAsJsonArray("models");
        JsonObject slow = find(models, "name", "slow").orElseThrow();
        assertThat(slow.get("state").getAsString()).isEqualTo("READY");
        assertThat(slow.get("engine").getAsString()).isEqualTo("delay");
        assertThat(slow.get("instances").getAsInt()).isPositive();
        assertThat(slow.get("loadNanos").getAsLong()).isPositive();
        assertThat(find(models, "name", "unloaded").orElseThrow().get("state").getAsString())
                .isEqualTo("UNAVAILABLE");
        assertThat(find(models, "name", "broken").orElseThrow().get("reason").getAsString())
                .isNotEmpty();
        assertThat(overview.getAsJsonObject("pool").get("totalBytes").getAsLong())
                .isPositive();
        assertThat(overview.getAsJsonObject("process").get("residentBytes").getAsLong())
                .isPositive();
        assertThat(overview.getAsJsonObject("connections").get("http").getAsInt())
                .isPositive();
        Await.until("an alert", () -> find(overview().getAsJsonArray("alerts"), "subject", "broken")
                .isPresent());
        JsonObject alert =
                find(overview().getAsJsonArray("alerts"), "subject", "broken").orElseThrow();
        assertThat(alert.get("code").getAsString()).isEqualTo("model-unavailable");
        assertThat(alert.get("severity").getAsString()).isEqualTo("error");
        assertThat(alert.get("advice").getAsString()).contains("gatun check");
    }

    @Test
    void shouldTellOfProcessesThatServeModels() {
        server.expectErrors();
        Await.until("the memory of a process", () -> model("apart").has("memoryBytes"));
        assertThat(model("apart").get("memoryIs").getAsString()).isEqualTo("resident");
        assertThat(model("slow").has("memoryBytes")).isFalse();
        assertThat(model("simple").get("memoryIs").getAsString()).isEqualTo("estimated");
        assertThat(model("simple").get("memoryBytes").getAsLong()).isPositive();
        server.descendants("engine-process").forEach(ProcessHandle::destroyForcibly);
        Await.until("an alert", () -> find(overview().getAsJsonArray("alerts"), "code", "worker-restarted")
                .isPresent());
        JsonObject alert = find(overview().getAsJsonArray("alerts"), "code", "worker-restarted")
                .orElseThrow();
        assertThat(alert.get("subject").getAsString()).isEqualTo("apart");
        assertThat(alert.get("text").getAsString()).contains("started again 1 time in the last 30 s");
        assertThat(alert.get("advice").getAsString()).contains("isolation_memory_limit");
    }

    @Test
    void shouldTellAllOfAModelWhoseNameIsMarkup() throws Exception {
        assertThat(model(ODD).get("state").getAsString()).isEqualTo("READY");
        assertThat(get("/v2/console/overview").headers().firstValue("x-content-type-options"))
                .hasValue("nosniff");
        assertThat(json(path(ODD)).get("name").getAsString()).isEqualTo(ODD);
        assertThat(json(path(ODD) + "/versions/1/history").get("points").getAsInt())
                .isEqualTo(3600);
        assertThat(json(path(ODD) + "/slowest").getAsJsonArray("requests")).isEmpty();
        try (RawHttp raw = connect(server.httpPort())) {
            raw.send("GET /v2/console/models/%zz HTTP/1.1\r\nHost: gatun\r\n\r\n")
                    .readBody("HTTP/1.1 400");
        }
        assertThat(get(path("absent")).statusCode()).isEqualTo(404);
        assertThat(get(path("absent") + "/versions/7/history").statusCode()).isEqualTo(404);
        assertThat(get("/v2/console/none").statusCode()).isEqualTo(404);
        assertThat(http.post("/v2/console/overview", "").statusCode()).isEqualTo(405);
    }

    @Test
    void shouldAskAndLoadAModelWhoseNameIsEncodedInPaths() {
        String name = encoded(ENCODED);
        assertThat(http.post("/v2/repository/models/" + name + "/load", "").statusCode())
                .isEqualTo(200);
        assertThat(model(ENCODED).get("state").getAsString()).isEqualTo("READY");
        JsonObject answer = JsonParser.parseString(
                        http.post("/v2/models/" + name + "/infer", INFER).body())
                .getAsJsonObject();
        assertThat(answer.get("model_name").getAsString()).isEqualTo(ENCODED);
        assertThat(http.post("/v2/repository/models/" + name + "/unload", "").statusCode())
                .isEqualTo(200);
        Await.until(
                "the unload",
                () -> http.post("/v2/models/" + name + "/infer", INFER).statusCode() == 400);
        HttpResponse<String> outside = http.post("/v2/repository/models/..%2F..%2Fsimple/load", "");
        assertThat(outside.statusCode()).as(outside.body()).isEqualTo(400);
        assertThat(outside.body()).contains("../../simple");
    }

    @Test
    void shouldTellHowFarALoadIs() {
        CompletableFuture<HttpResponse<String>> load =
                CompletableFuture.supplyAsync(() -> http.post("/v2/repository/models/warmed/load", ""));
        Await.until("the phase", () -> Optional.ofNullable(model("warmed").getAsJsonObject("loading"))
                .filter(loading -> loading.get("phase").getAsString().equals("warming-up"))
                .isPresent());
        JsonObject warmed = model("warmed");
        assertThat(warmed.get("state").getAsString()).isEqualTo("LOADING");
        assertThat(warmed.get("loadingMillis").getAsLong()).isNotNegative();
        JsonObject loading = warmed.getAsJsonObject("loading");
        assertThat(loading.get("instances").getAsInt()).isEqualTo(2);
        assertThat(loading.get("instancesReady").getAsInt()).isBetween(0, 1);
        assertThat(load.join().statusCode()).isEqualTo(200);
        assertThat(model("warmed").has("loading")).isFalse();
    }

    @Test
    void shouldTellWhichInstancesAreBusy() {
        CompletableFuture<HttpResponse<String>> answer =
                CompletableFuture.supplyAsync(() -> http.post("/v2/models/slower/infer", INFER));
        Await.until(
                "a busy instance", () -> model("slower").get("busyInstances").getAsDouble() == 1);
        assertThat(model("slower").get("instances").getAsInt()).isEqualTo(2);
        assertThat(answer.join().statusCode()).isEqualTo(200);
        Await.until("an idle one", () -> model("slower").get("busyInstances").getAsDouble() == 0);
        assertThat(json(path("slower") + "/history").getAsJsonObject("series").getAsJsonArray("busyInstances"))
                .anyMatch(value -> !value.isJsonNull() && value.getAsDouble() == 1);
    }

    @Test
    void shouldTellWhatAModelIsAndWhatOfItWasCompleted() {
        JsonObject simple = json(path("simple"));
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
        Await.until("durations", () -> model("slow").has("p50Nanos"));
        assertThat(model("slow").get("p50Nanos").getAsLong()).isGreaterThan(25_000_000);
        JsonObject slow = json(path("slow"));
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

        JsonObject slowest = json(path("slow") + "/slowest")
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

        JsonObject history = json(path("slow") + "/history");
        double requests = 0;
        for (JsonElement value : history.getAsJsonObject("series").getAsJsonArray("requestsPerSecond")) {
            requests += value.isJsonNull() ? 0 : value.getAsDouble();
        }
        assertThat(requests).isPositive();
        assertThat(history.getAsJsonObject("byTransport").has("http")).isTrue();
    }

    @Test
    void shouldTellWhyTheLastRequestsFailed() {
        assertThat(http.post("/v2/models/simple/infer", INFER).statusCode()).isEqualTo(400);
        Await.until(
                "a failure",
                () -> json(path("simple")).getAsJsonArray("lastFailures").size() > 0);
        JsonObject failure =
                json(path("simple")).getAsJsonArray("lastFailures").get(0).getAsJsonObject();
        assertThat(failure.get("code").getAsString()).isEqualTo("INVALID_ARGUMENT");
        assertThat(failure.get("reason").getAsString()).isEqualTo("OTHER");
        assertThat(failure.get("text").getAsString()).contains("IN");
    }

    @Test
    void shouldTellWhoseMemoryAndConnectionsThereAre() throws Exception {
        try (SharedObject object = SharedObject.create(4096)) {
            assertThat(http.register("mine", object.key(), "0", "4096").statusCode())
                    .isEqualTo(200);
            Await.until("the region", () -> find(json("/v2/console/memory").getAsJsonArray("regions"), "name", "mine")
                    .isPresent());
            JsonObject region = find(json("/v2/console/memory").getAsJsonArray("regions"), "name", "mine")
                    .orElseThrow();
            assertThat(region.get("kind").getAsString()).isEqualTo("posix");
            assertThat(region.get("byteSize").getAsLong()).isEqualTo(4096);
            assertThat(region.get("leases").getAsInt()).isZero();
            assertThat(region.getAsJsonObject("owner").get("user").getAsString())
                    .isEqualTo(System.getProperty("user.name"));
            http.unregister("mine");
        }
        JsonObject connections = json("/v2/console/connections");
        assertThat(connections.get("total").getAsInt()).isPositive();
        JsonObject connection = connections.getAsJsonArray("connections").get(0).getAsJsonObject();
        assertThat(connection.get("peer").getAsString()).startsWith("127.0.0.1:");
        assertThat(connection.get("requests").getAsLong()).isPositive();
        // This very request is one of them; its response is not sent yet.
        assertThat(connection.get("bytesIn").getAsLong()).isGreaterThan(50);
        assertThat(connection.get("bytesOut").getAsLong()).isPositive();
    }

    @Test
    void shouldShowConnectionsOverGrpc() {
        try (GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            for (int i = 0; i < 3; i++) {
                assertThat(grpc.service()
                                .serverLive(ServerLiveRequest.getDefaultInstance())
                                .getLive())
                        .isTrue();
            }
            Await.until("the connection", () -> overGrpc().isPresent());
            JsonObject connection = overGrpc().orElseThrow();
            assertThat(connection.get("peer").getAsString()).startsWith("127.0.0.1:");
            assertThat(connection.get("requests").getAsLong()).isEqualTo(3);
            assertThat(connection.get("inFlight").getAsInt()).isZero();
            assertThat(connection.get("tls").getAsBoolean()).isFalse();
        }
    }

    private static Optional<JsonObject> overGrpc() {
        return find(json("/v2/console/connections").getAsJsonArray("connections"), "protocol", "grpc");
    }

    @Test
    void shouldNotLetPagesOfOtherOriginsChangeTheServer() {
        String unload = "/v2/repository/models/simple/unload";
        for (String[] headers : new String[][] {
            {"Origin", "https://evil.example"},
            {"Origin", "null"},
            {"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
            {"Sec-Fetch-Site", "same-site"}
        }) {
            HttpResponse<String> refused = http.send(
                    HttpRequest.newBuilder(http.uri(unload)).headers(headers).POST(HttpRequest.BodyPublishers.noBody()),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(refused.statusCode()).as(refused.body()).isEqualTo(403);
            assertThat(refused.body()).contains("--http-cors-allow-origin");
        }
        assertThat(get("/v2/models/simple/ready").statusCode()).isEqualTo(200);
        String own = "http://127.0.0.1:" + server.httpPort();
        for (String[] headers : new String[][] {
            {"Origin", own}, {"Origin", own, "Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "none"}
        }) {
            assertThat(http.send(
                                    HttpRequest.newBuilder(http.uri("/v2/repository/models/unloaded/load"))
                                            .headers(headers)
                                            .POST(HttpRequest.BodyPublishers.noBody()),
                                    HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    private static RawHttp connect(int port) throws Exception {
        return RawHttp.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
    }

    private static RawHttp viewer(int port) throws Exception {
        return connect(port).send("GET /v2/console/events?model=slow HTTP/1.1\r\nHost: gatun\r\n\r\n");
    }

    @Test
    void shouldSendEventsToSoManyViewersAndNoMoreWhetherTheyReadOrNot() throws Exception {
        List<RawHttp> viewers = new ArrayList<>();
        try {
            for (int i = 0; i < 32; i++) {
                RawHttp viewer = viewer(server.httpPort());
                viewers.add(viewer);
                viewer.readUntil("event: overview\ndata: ");
            }
            HttpResponse<String> refused = get("/v2/console/events");
            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(refused.body()).contains("32 viewers");
            assertThat(viewers.get(7).readUntil("event: model\ndata: ")).contains("\"atMillis\":");
            assertThat(viewers.get(7).readUntil("event: overview\ndata: ")).contains("\"batchSizes\":");
            Await.until(
                    "the number of viewers",
                    () -> overview()
                                    .getAsJsonObject("connections")
                                    .get("viewers")
                                    .getAsInt()
                            == 32);
        } finally {
            for (RawHttp viewer : viewers) {
                viewer.close();
            }
        }
        Await.until(
                "that viewers are gone",
                () -> overview().getAsJsonObject("connections").get("viewers").getAsInt() == 0);
    }

    @Test
    void shouldStopWhileViewersReadAndWhileOneDoesNot() throws Exception {
        try (ServerProcess other =
                ServerProcess.launch(ServerProcess.exampleModels(), "--console-port=0", "--exit-timeout-secs=20")) {
            int port = Integer.parseInt(other.ready("console.port"));
            try (HttpApi onHttp = new HttpApi(other);
                    RawHttp reader = viewer(port);
                    RawHttp idle = viewer(port)) {
                assertThat(onHttp.get("/console").statusCode()).isEqualTo(404);
                assertThat(onHttp.get("/v2/console/overview").statusCode()).isEqualTo(404);
                reader.readUntil("event: overview\ndata: ");
                idle.readUntil("\r\n\r\n");
                assertThat(other.handle().destroy()).isTrue();
                assertThat(reader.readUntil("0\r\n\r\n")).endsWith("0\r\n\r\n");
            }
        }
    }

    @Test
    void shouldShowNothingToThoseWhoMayNot() throws Exception {
        try (ServerProcess other = ServerProcess.launch(
                        ServerProcess.exampleModels(), "--http-restricted-api=console:key=secret");
                HttpApi restricted = new HttpApi(other)) {
            for (String path : List.of(
                    "/v2/console/overview",
                    "/v2/console/events",
                    "/v2/console/models/simple",
                    "/v2/console/models/absent",
                    "/v2/console/models/simple/history",
                    "/v2/console/memory",
                    "/v2/console/connections")) {
                HttpResponse<String> refused = restricted.get(path);
                assertThat(refused.statusCode()).as(path).isEqualTo(403);
                assertThat(refused.body()).isEqualTo("{\"error\":\"This API is restricted, expecting header 'key'\"}");
            }
            assertThat(restricted.get("/console").statusCode()).isEqualTo(200);
            assertThat(restricted
                            .send(
                                    HttpRequest.newBuilder(restricted.uri("/v2/console/overview"))
                                            .header("key", "secret"),
                                    HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(200);
        }
    }
}
