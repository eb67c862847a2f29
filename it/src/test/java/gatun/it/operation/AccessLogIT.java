// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.it.harness.StreamClient;
import gatun.testing.Await;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ServerLiveRequest;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The access log of the real server, over every protocol. */
@Timeout(120)
class AccessLogIT {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

    @TempDir
    Path folder;

    private Path file;

    @Test
    void shouldTellOfEachRequestOfEveryProtocol() throws Exception {
        file = folder.resolve("access.log");
        Path socket = folder.resolve("http.sock");
        try (ServerProcess server = ServerProcess.launch(
                        ServerProcess.exampleModels(),
                        "--access-log=" + file,
                        "--access-log-format=json",
                        "--http-unix-socket=" + socket);
                HttpApi http = new HttpApi(server);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            assertThat(http.send(
                                    HttpRequest.newBuilder(server.http("/v2/models/simple/infer"))
                                            .header("traceparent", "00-" + TRACE + "-b7ad6b7169203331-01")
                                            .POST(HttpRequest.BodyPublishers.ofString(
                                                    SimpleModel.json().replaceFirst("\\{", "{\"id\": \"seven\","))),
                                    HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(200);
            JsonObject infer = line(entry -> is(entry, "id", "seven"));
            assertThat(text(infer, "request")).isEqualTo("POST /v2/models/simple/infer");
            assertThat(text(infer, "transport")).isEqualTo("http");
            assertThat(text(infer, "protocol")).isEqualTo("v2");
            assertThat(text(infer, "peer")).startsWith("127.0.0.1:");
            assertThat(text(infer, "model")).isEqualTo("simple");
            assertThat(text(infer, "version")).isEqualTo("1");
            assertThat(text(infer, "status")).isEqualTo("200");
            assertThat(text(infer, "trace")).isEqualTo(TRACE);
            assertThat(infer.get("in_bytes").getAsLong()).isGreaterThan(100);
            assertThat(infer.get("out_bytes").getAsLong()).isGreaterThan(100);
            assertThat(infer.get("compute_infer_us").getAsLong())
                    .isPositive()
                    .isLessThanOrEqualTo(infer.get("total_us").getAsLong());
            assertThat(infer.has("queue_us")).isTrue();

            http.post("/v2/models/absent/infer", SimpleModel.json());
            JsonObject absent = line(entry -> is(entry, "model", "absent"));
            assertThat(text(absent, "status")).isEqualTo("404");
            assertThat(absent.has("queue_us")).isFalse();

            http.get("/v2/health/live");
            assertThat(text(line(entry -> is(entry, "request", "GET /v2/health/live")), "status"))
                    .isEqualTo("200");
            http.get("/no/such/path");
            assertThat(text(line(entry -> is(entry, "request", "GET /no/such/path")), "status"))
                    .isEqualTo("404");
            http.post("/v1/models/digits:predict", "{}");
            assertThat(text(line(entry -> is(entry, "request", "POST /v1/models/digits:predict")), "model"))
                    .isEqualTo("digits");

            grpc.service()
                    .modelInfer(SimpleModel.grpc().toBuilder().setId("eight").build());
            JsonObject call = line(entry -> is(entry, "id", "eight"));
            assertThat(text(call, "request")).isEqualTo("inference.GRPCInferenceService/ModelInfer");
            assertThat(text(call, "transport")).isEqualTo("grpc");
            assertThat(text(call, "status")).isEqualTo("OK");
            assertThat(text(call, "peer")).startsWith("127.0.0.1:");
            assertThat(call.get("in_bytes").getAsLong()).isGreaterThan(128);
            assertThat(call.get("out_bytes").getAsLong()).isGreaterThan(128);

            grpc.service().serverLive(ServerLiveRequest.getDefaultInstance());
            assertThat(text(line(entry -> is(entry, "request", "inference.GRPCInferenceService/ServerLive")), "status"))
                    .isEqualTo("OK");
            ModelInferRequest wrong =
                    SimpleModel.grpc().toBuilder().setModelName("nobody").build();
            assertThatThrownBy(() -> grpc.service().modelInfer(wrong)).isInstanceOf(StatusRuntimeException.class);
            assertThat(text(line(entry -> is(entry, "model", "nobody")), "status"))
                    .isEqualTo("NOT_FOUND");

            StreamClient stream = StreamClient.open(grpc);
            stream.send(SimpleModel.grpc().toBuilder().setId("nine").build());
            stream.send(wrong.toBuilder().setId("ten").setModelName("none").build());
            stream.complete();
            JsonObject streamed = line(entry -> is(entry, "id", "nine"));
            assertThat(text(streamed, "transport")).isEqualTo("grpc_stream");
            assertThat(text(streamed, "status")).isEqualTo("OK");
            assertThat(streamed.get("out_bytes").getAsLong()).isGreaterThan(128);
            assertThat(text(line(entry -> is(entry, "model", "none")), "status"))
                    .isEqualTo("NOT_FOUND");
            // The call itself, once it has ended.
            assertThat(text(
                            line(entry -> is(entry, "transport", "grpc")
                                    && is(entry, "request", "inference.GRPCInferenceService/ModelStreamInfer")),
                            "status"))
                    .isEqualTo("OK");

            assertThat(http.metric("gatun_access_log_lines{result=\"written\"}"))
                    .isGreaterThanOrEqualTo(11);
            assertThat(http.metric("gatun_access_log_lines{result=\"dropped\"}"))
                    .isZero();
        }
    }

    @Test
    void shouldGoOnInANewFileAtSighup() throws Exception {
        file = folder.resolve("access.log");
        Path log = folder.resolve("server.log");
        try (ServerProcess server = ServerProcess.launch(
                        ServerProcess.exampleModels(),
                        "--access-log=" + file,
                        "--log-file=" + log,
                        "--log-format=json");
                HttpApi http = new HttpApi(server)) {
            http.get("/v2/health/live");
            Await.until("the line is written", () -> Files.readString(file).contains("/v2/health/live"));
            assertThat(lines(log)).isNotEmpty().allMatch(line -> JsonParser.parseString(line)
                    .getAsJsonObject()
                    .keySet()
                    .containsAll(List.of("time", "level", "pid", "logger", "message")));
            Path moved = Files.move(file, folder.resolve("access.log.old"));
            Path movedLog = Files.move(log, folder.resolve("server.log.old"));
            server.signal("HUP");
            Await.until("both files are there", () -> Files.exists(file) && Files.exists(log));
            http.get("/v2/health/ready");
            Await.until("the next line is written", () -> Files.readString(file).contains("/v2/health/ready"));
            assertThat(moved).content().doesNotContain("/v2/health/ready");
            Await.until("the log tells", () -> Files.readString(log).contains("The log goes on in " + log));
            assertThat(movedLog).content().contains("Gatun ");
        }
    }

    @Test
    void shouldServeWhateverBecomesOfTheLog() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels(), "--access-log=/dev/full")
                        .expectErrors();
                HttpApi http = new HttpApi(server)) {
            for (int i = 0; i < 50; i++) {
                assertThat(http.get("/v2/health/live").statusCode()).isEqualTo(200);
            }
            Await.until("the lines are dropped", () -> http.metric("gatun_access_log_lines{result=\"dropped\"}") >= 50);
            assertThat(server.log()).contains("Lines of the access log are dropped: /dev/full cannot be written");
        }
        Path missing = folder.resolve("none/access");
        ServerProcess refused = ServerProcess.run(
                "serve", "--model-repository=" + ServerProcess.exampleModels(), "--access-log=" + missing);
        assertThat(refused.awaitExit(Duration.ZERO)).isEqualTo(1);
        assertThat(refused.log()).contains("--access-log=" + missing + " cannot be written");
    }

    @Test
    void shouldBeginItsFilesAnewAndWriteToStandardOutput() throws Exception {
        file = folder.resolve("access.log");
        try (ServerProcess server = ServerProcess.launch(
                        ServerProcess.exampleModels(),
                        "--access-log=" + file,
                        "--log-rotate-bytes=1000",
                        "--log-rotate-files=2");
                HttpApi http = new HttpApi(server)) {
            Await.until("there are three files", () -> {
                http.get("/v2/health/live");
                return Files.exists(folder.resolve("access.log.2"));
            });
        }
        assertThat(folder.resolve("access.log.3")).doesNotExist();
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels(), "--access-log=-");
                HttpApi http = new HttpApi(server)) {
            http.get("/v2/health/live");
            Await.until(
                    "the line is there", () -> server.output().contains("request=\"GET /v2/health/live\" status=200"));
        }
    }

    /** The first line that is as wanted; it may be on its way. */
    private JsonObject line(Predicate<JsonObject> wanted) {
        Await.until(
                "the line", () -> lines(file).stream().map(AccessLogIT::parse).anyMatch(wanted));
        try {
            return lines(file).stream()
                    .map(AccessLogIT::parse)
                    .filter(wanted)
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The whole lines of a file. */
    private static List<String> lines(Path file) throws IOException {
        String text = Files.readString(file);
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    }

    private static JsonObject parse(String line) {
        return JsonParser.parseString(line).getAsJsonObject();
    }

    private static boolean is(JsonObject entry, String name, String value) {
        return entry.has(name) && text(entry, name).equals(value);
    }

    private static String text(JsonObject entry, String name) {
        return entry.get(name).getAsString();
    }
}
