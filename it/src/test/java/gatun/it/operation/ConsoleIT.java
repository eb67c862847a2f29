// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static gatun.it.harness.ConsoleApi.find;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import gatun.it.harness.ConsoleApi;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.RawHttp;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.testing.Await;
import gatun.wire.inference.ServerLiveRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The console's API in the real server: what it shows, who may see it, and what viewers can do to a server. */
@Timeout(120)
class ConsoleIT {
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
        models.delay("unloaded", 0);
        models.simple("simple", "", 1, 2);
        models.delay("broken", 0);
        models.config("broken", "backend: \"delay\" input [ { name: \"IN\" data_type: TYPE_INT32 } ]");
        server = ServerProcess.launch(
                folder,
                "--model-control-mode=explicit",
                "--load-model=slow",
                "--load-model=simple",
                "--load-model=broken",
                "--exit-on-error=false",
                "--allow-client-shm=true");
        http = new HttpApi(server);
        console = new ConsoleApi(http);
    }

    @Test
    void shouldShowBrowsersThePageAndTellOthersThatTheServerLives() {
        assertThat(console.get("/").body()).isEqualTo("{\"status\":\"alive\"}");
        assertThat(console.get("/", "Accept", "application/json").body()).isEqualTo("{\"status\":\"alive\"}");
        HttpResponse<String> page = console.get("/", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8");
        assertThat(page.body())
                .startsWith("<!doctype html>")
                .isEqualTo(console.get("/console").body());
        assertThat(page.headers().firstValue("content-type")).hasValue("text/html; charset=utf-8");
        assertThat(page.headers().firstValue("vary")).hasValue("Accept");
    }

    @Test
    void shouldSendThePageWithHeadersThatLetNothingElseIn() {
        HttpResponse<String> page = console.get("/console/index.html");
        assertThat(page.headers().firstValue("content-security-policy").orElse(""))
                .startsWith("default-src 'none'; script-src 'self'; style-src 'self';")
                .contains("frame-ancestors 'none'")
                .doesNotContain("unsafe");
        assertThat(page.headers().firstValue("x-frame-options")).hasValue("DENY");
        assertThat(page.headers().firstValue("x-content-type-options")).hasValue("nosniff");
        assertThat(page.headers().firstValue("referrer-policy")).hasValue("no-referrer");
        assertThat(page.headers().firstValue("cross-origin-opener-policy")).hasValue("same-origin");
        String tag = page.headers().firstValue("etag").orElseThrow();
        HttpResponse<String> again = console.get("/console/index.html", "If-None-Match", tag);
        assertThat(again.statusCode()).isEqualTo(304);
        assertThat(again.body()).isEmpty();
        for (String none : List.of(
                "/console/../history/Sampler.class",
                "/console/..%2fhistory",
                "/console/none.js",
                "/console/.html",
                "/console/a/b/c.js")) {
            assertThat(console.get(none).statusCode()).as(none).isEqualTo(404);
        }
    }

    @Test
    void shouldTellOfEachModelAndOfWhatIsWrong() {
        JsonObject overview = console.overview();
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
        Await.until("an alert", () -> find(console.overview().getAsJsonArray("alerts"), "subject", "broken")
                .isPresent());
        JsonObject alert = find(console.overview().getAsJsonArray("alerts"), "subject", "broken")
                .orElseThrow();
        assertThat(alert.get("code").getAsString()).isEqualTo("model-unavailable");
        assertThat(alert.get("severity").getAsString()).isEqualTo("error");
        assertThat(alert.get("advice").getAsString()).contains("gatun check");
    }

    @Test
    void shouldTellWhoseMemoryAndConnectionsThereAre() throws Exception {
        try (SharedObject object = SharedObject.create(4096)) {
            assertThat(http.register("mine", object.key(), "0", "4096").statusCode())
                    .isEqualTo(200);
            Await.until("the region", () -> find(
                            console.json("/v2/console/memory").getAsJsonArray("regions"), "name", "mine")
                    .isPresent());
            JsonObject region = find(console.json("/v2/console/memory").getAsJsonArray("regions"), "name", "mine")
                    .orElseThrow();
            assertThat(region.get("kind").getAsString()).isEqualTo("posix");
            assertThat(region.get("byteSize").getAsLong()).isEqualTo(4096);
            assertThat(region.get("leases").getAsInt()).isZero();
            assertThat(region.getAsJsonObject("owner").get("user").getAsString())
                    .isEqualTo(System.getProperty("user.name"));
            http.unregister("mine");
        }
    }

    @Test
    void shouldTellOfTheConnectionsOfClientsAndNotOfThoseWhoLook() throws Exception {
        try (RawHttp viewer = viewer(server.httpPort());
                RawHttp reader = connect(server.httpPort());
                RawHttp client = connect(server.httpPort())) {
            viewer.readUntil("event: overview\ndata: ");
            for (RawHttp each : List.of(reader, client)) {
                each.send("GET /v2/console/memory HTTP/1.1\r\nHost: localhost\r\n\r\n")
                        .readBody("HTTP/1.1 200");
            }
            client.send("GET /v2/models/slow/config HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    .readBody("HTTP/1.1 200");
            Await.until("the connection of a client", () -> of(client)
                    .filter(connection -> connection.get("inFlight").getAsInt() == 0)
                    .isPresent());
            JsonObject connection = of(client).orElseThrow();
            assertThat(connection.get("requests").getAsLong()).isEqualTo(1);
            assertThat(connection.get("bytesIn").getAsLong()).isGreaterThan(50);
            assertThat(connection.get("bytesOut").getAsLong()).isPositive();
            assertThat(of(viewer)).isEmpty();
            assertThat(of(reader)).isEmpty();
            // Those of other tests end a moment after their clients.
            Await.until("a total without viewers", () -> {
                JsonObject all = console.json("/v2/console/connections");
                return all.get("total").getAsInt()
                        == all.getAsJsonArray("connections").size();
            });
        }
    }

    private static Optional<JsonObject> of(RawHttp connection) throws IOException {
        JsonArray all = console.json("/v2/console/connections").getAsJsonArray("connections");
        return find(all, "peer", "127.0.0.1:" + connection.localPort());
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
            assertThat(connection.get("bytesIn").getAsLong()).isGreaterThan(50);
            assertThat(connection.get("bytesOut").getAsLong()).isGreaterThan(50);
        }
    }

    private static Optional<JsonObject> overGrpc() {
        return find(console.json("/v2/console/connections").getAsJsonArray("connections"), "protocol", "grpc");
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
        assertThat(console.get("/v2/models/simple/ready").statusCode()).isEqualTo(200);
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
        return connect(port).send("GET /v2/console/events?model=slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }

    @Test
    void shouldGiveANewViewerThePlaceOfTheFirstWhereThereAreTooMany() throws Exception {
        List<RawHttp> viewers = new ArrayList<>();
        try {
            for (int i = 0; i < 32; i++) {
                RawHttp viewer = viewer(server.httpPort());
                viewers.add(viewer);
                viewer.readUntil("event: overview\ndata: ");
            }
            RawHttp operator = viewer(server.httpPort());
            viewers.add(operator);
            operator.readUntil("event: overview\ndata: ");
            assertThat(viewers.getFirst().readUntil("0\r\n\r\n"))
                    .as("the end of a stream")
                    .endsWith("0\r\n\r\n");
            assertThat(viewers.get(7).readUntil("event: model\ndata: ")).contains("\"atMillis\":");
            assertThat(viewers.get(7).readUntil("event: overview\ndata: ")).contains("\"batchSizes\":");
            Await.until(
                    "the number of viewers",
                    () -> console.overview()
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
                () -> console.overview()
                                .getAsJsonObject("connections")
                                .get("viewers")
                                .getAsInt()
                        == 0);
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
