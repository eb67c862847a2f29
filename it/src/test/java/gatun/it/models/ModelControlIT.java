// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import gatun.wire.inference.ModelConfigRequest;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelRepositoryParameter;
import gatun.wire.inference.RepositoryIndexRequest;
import gatun.wire.inference.RepositoryModelLoadRequest;
import gatun.wire.inference.RepositoryModelUnloadRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models come and go in the real server, by requests and by changes in the repository. */
@Timeout(180)
class ModelControlIT {
    private static final String REFUSED = "explicit model load / unload is not allowed if polling is enabled";

    @TempDir
    Path folder;

    private ModelRepositoryFolder repository;

    @BeforeEach
    void prepare() {
        repository = new ModelRepositoryFolder(folder);
    }

    private ServerProcess explicit(String... flags) throws InterruptedException {
        String[] all = Stream.concat(Stream.of("--model-control-mode=explicit"), Stream.of(flags))
                .toArray(String[]::new);
        return ServerProcess.launch(folder, all);
    }

    private static String index(HttpApi http) {
        return http.post("/v2/repository/index", "").body();
    }

    private static int infer(HttpApi http, String model) {
        HttpResponse<String> answer = http.post("/v2/models/" + model + "/infer", SimpleModel.json());
        if (answer.statusCode() == 200) {
            assertThat(answer.body()).contains(SimpleModel.jsonData(SimpleModel.SUM));
        }
        return answer.statusCode();
    }

    private static void loaded(HttpResponse<String> answer) {
        assertThat(answer.body()).isEmpty();
        assertThat(answer.statusCode()).isEqualTo(200);
    }

    @Test
    void shouldLoadAndUnloadOverHttp() throws Exception {
        repository.simple("first", "", 1);
        repository.simple("second", "version_policy { all { } }", 1, 2);
        try (ServerProcess server = explicit("--load-model=first");
                HttpApi http = new HttpApi(server)) {
            assertThat(index(http))
                    .isEqualTo("[{\"name\":\"first\",\"version\":\"1\",\"state\":\"READY\"},{\"name\":\"second\"}]");
            assertThat(infer(http, "second")).isEqualTo(404);

            loaded(http.post("/v2/repository/models/second/load", ""));
            assertThat(infer(http, "second")).isEqualTo(200);
            assertThat(infer(http, "second/versions/1")).isEqualTo(200);

            loaded(http.post("/v2/repository/models/first/unload", "{\"parameters\":{\"unload_dependents\":true}}"));
            Await.until(
                    "the first is gone",
                    () -> index(http)
                            .startsWith(
                                    "[{\"name\":\"first\",\"version\":\"1\",\"state\":\"UNAVAILABLE\",\"reason\":\"unloaded\"}"));
            assertThat(infer(http, "first")).isEqualTo(404);
            assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(200);
            assertThat(http.post("/v2/repository/index", "{\"ready\":true}").body())
                    .doesNotContain("first");
            loaded(http.post("/v2/repository/models/nobody/unload", ""));
        }
    }

    @Test
    void shouldTakeWhatALoadOverHttpBrings() throws Exception {
        try (ServerProcess server = explicit();
                HttpApi http = new HttpApi(server)) {
            String file = Base64.getEncoder().encodeToString(ModelRepositoryFolder.simpleModelFile());
            String config = "{\\\"backend\\\":\\\"onnxruntime\\\",\\\"max_batch_size\\\":3}";
            loaded(http.post(
                    "/v2/repository/models/sent/load",
                    "{\"parameters\":{\"config\":\"" + config + "\",\"file:4/model.onnx\":\"" + file + "\"}}"));
            assertThat(infer(http, "sent/versions/4")).isEqualTo(200);
            assertThat(http.get("/v2/models/sent/config").body()).contains("\"max_batch_size\":3");
        }
    }

    @Test
    void shouldSayOverHttpWhatIsWrongWithALoad() throws Exception {
        repository.simple("broken", "", 1);
        Files.writeString(folder.resolve("broken/1/model.onnx"), "this is no model");
        try (ServerProcess server = explicit();
                HttpApi http = new HttpApi(server)) {
            assertRefused(
                    http.post("/v2/repository/models/absent/load", ""),
                    500,
                    "failed to load 'absent', failed to poll from model repository");
            assertRefused(
                    http.post("/v2/repository/models/broken/load", ""),
                    400,
                    "load failed for model 'broken': version 1 is at UNAVAILABLE state: Invalid argument: ");
            assertRefused(
                    http.post("/v2/repository/any/models/broken/load", ""),
                    501,
                    "'repository_name' specification is not supported");
            assertRefused(
                    http.post("/v2/repository/models/broken/load", "{\"parameters\":{\"file:1/model.onnx\":\"AAAA\"}}"),
                    400,
                    "failed to load 'broken', failed to poll from model repository: Load parameter 'config' must be"
                            + " specified for model file override");
            assertRefused(
                    http.post("/v2/repository/models/broken/load", "{\"parameters\":{\"file:1/model.onnx\":\"%\"}}"),
                    400,
                    "load parameter 'file:1/model.onnx' is not base64 text");
            assertThat(http.get("/v2/repository/models/broken/load").statusCode())
                    .isEqualTo(405);
            assertThat(http.post("/v2/repository/models/broken/stop", "").statusCode())
                    .isEqualTo(404);
            assertThat(index(http)).contains("\"state\":\"UNAVAILABLE\",\"reason\":");
            assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(400);
        }
    }

    private static void assertRefused(HttpResponse<String> answer, int status, String text) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
        assertThat(answer.body()).startsWith("{\"error\":\"" + text);
    }

    @Test
    void shouldLoadAndUnloadOverGrpc() throws Exception {
        repository.simple("simple", "", 1);
        try (ServerProcess server = explicit();
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            Iterator<HealthCheckResponse> health = HealthGrpc.newBlockingStub(grpc.channel())
                    .withDeadlineAfter(60, TimeUnit.SECONDS)
                    .watch(HealthCheckRequest.getDefaultInstance());
            assertThat(health.next().getStatus()).isEqualTo(ServingStatus.SERVING);
            assertThat(index(grpc)).containsExactly("simple   ");
            load(grpc, "simple", Map.of());
            assertAnswers(grpc);

            ModelRepositoryParameter config = ModelRepositoryParameter.newBuilder()
                    .setStringParam("{\"backend\":\"onnxruntime\",\"max_batch_size\":7,"
                            + "\"instance_group\":[{\"kind\":\"kind_cpu\",\"count\":1}]}")
                    .build();
            load(grpc, "simple", Map.of("config", config));
            assertThat(maxBatchSize(grpc)).isEqualTo(7);
            load(grpc, "simple", Map.of());
            assertThat(maxBatchSize(grpc)).isEqualTo(7);
            ModelRepositoryParameter file = ModelRepositoryParameter.newBuilder()
                    .setBytesParam(ByteString.copyFrom(ModelRepositoryFolder.simpleModelFile()))
                    .build();
            load(grpc, "simple", Map.of("config", config, "file:1/model.onnx", file));
            assertAnswers(grpc);

            ModelRepositoryParameter number =
                    ModelRepositoryParameter.newBuilder().setInt64Param(1).build();
            assertThat(failure(() -> load(grpc, "simple", Map.of("config", number))))
                    .isEqualTo(
                            "INVALID_ARGUMENT invalid value type for load parameter 'config', expected string_param.");
            assertThat(failure(() -> load(grpc, "simple", Map.of("file:1/x", config))))
                    .isEqualTo(
                            "INVALID_ARGUMENT invalid value type for load parameter 'file:1/x', expected bytes_param.");
            assertThat(failure(() -> load(grpc, "simple", Map.of("model", config))))
                    .isEqualTo("INVALID_ARGUMENT unrecognized load parameter 'model'.");
            assertThat(failure(() -> load(grpc, "..", Map.of())))
                    .isEqualTo("INVALID_ARGUMENT invalid model name '..', model name must not contain path traversal"
                            + " characters");
            assertThat(failure(() -> load(grpc, "absent", Map.of())))
                    .isEqualTo(
                            "INTERNAL failed to load 'absent', failed to poll from model repository; there is no folder"
                                    + " 'absent' in it, but simple");
            assertThat(failure(() -> unload(grpc, Map.of("unload_dependents", number))))
                    .isEqualTo("INVALID_ARGUMENT invalid value type for 'unload_dependents' parameter, expected"
                            + " bool_param.");

            unload(grpc, Map.of());
            Await.until("it is gone", () -> index(grpc).equals(List.of("simple 1 UNAVAILABLE unloaded")));
            assertThatThrownBy(() -> grpc.service().modelInfer(SimpleModel.grpc()))
                    .hasMessageContaining("has no available versions");
        }
    }

    private static void assertAnswers(GrpcClient grpc) {
        ModelInferResponse answer = grpc.service().modelInfer(SimpleModel.grpc());
        assertThat(SimpleModel.values(answer.getRawOutputContents(0).asReadOnlyByteBuffer()))
                .isEqualTo(SimpleModel.SUM);
    }

    private static int maxBatchSize(GrpcClient grpc) {
        return grpc.service()
                .modelConfig(ModelConfigRequest.newBuilder().setName("simple").build())
                .getConfig()
                .getMaxBatchSize();
    }

    private static List<String> index(GrpcClient grpc) {
        return grpc.service().repositoryIndex(RepositoryIndexRequest.getDefaultInstance()).getModelsList().stream()
                .map(row -> row.getName() + " " + row.getVersion() + " " + row.getState() + " " + row.getReason())
                .toList();
    }

    private static void load(GrpcClient grpc, String model, Map<String, ModelRepositoryParameter> parameters) {
        assertThat(grpc.service()
                        .repositoryModelLoad(RepositoryModelLoadRequest.newBuilder()
                                .setModelName(model)
                                .putAllParameters(parameters)
                                .build())
                        .getSerializedSize())
                .isZero();
    }

    private static void unload(GrpcClient grpc, Map<String, ModelRepositoryParameter> parameters) {
        assertThat(grpc.service()
                        .repositoryModelUnload(RepositoryModelUnloadRequest.newBuilder()
                                .setModelName("simple")
                                .putAllParameters(parameters)
                                .build())
                        .getSerializedSize())
                .isZero();
    }

    private static String failure(Runnable call) {
        try {
            call.run();
        } catch (StatusRuntimeException e) {
            Status status = e.getStatus();
            return status.getCode() + " " + status.getDescription();
        }
        throw new AssertionError("the call did not fail");
    }

    @Test
    void shouldRefuseControlWhereTheRepositoryIsNotWatched() throws Exception {
        repository.simple("simple", "", 1);
        try (ServerProcess server = ServerProcess.launch(folder);
                HttpApi http = new HttpApi(server);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            assertRefused(http.post("/v2/repository/models/simple/load", ""), 503, REFUSED);
            assertRefused(http.post("/v2/repository/models/simple/unload", ""), 503, REFUSED);
            assertThat(failure(() -> load(grpc, "simple", Map.of()))).startsWith("UNAVAILABLE " + REFUSED);
            assertThat(failure(() -> unload(grpc, Map.of()))).startsWith("UNAVAILABLE " + REFUSED);
            assertThat(infer(http, "simple")).isEqualTo(200);
        }
    }

    @Test
    void shouldFollowTheRepositoryWithoutInterruptingAnybody() throws Exception {
        repository.simple("steady", "", 1);
        repository.simple("goes", "", 1);
        try (ServerProcess server =
                        ServerProcess.launch(folder, "--model-control-mode=poll", "--repository-poll-secs=1");
                HttpApi http = new HttpApi(server);
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            AtomicBoolean end = new AtomicBoolean();
            AtomicInteger answered = new AtomicInteger();
            Future<?> client = clients.submit(() -> {
                while (!end.get()) {
                    assertThat(infer(http, "steady")).isEqualTo(200);
                    answered.incrementAndGet();
                }
            });
            assertRefused(http.post("/v2/repository/models/steady/load", ""), 503, REFUSED);

            repository.simple("broken", "nonsense", 1);
            repository.simple("comes", "", 1);
            Await.until(
                    "the new model is ready",
                    () -> http.get("/v2/models/comes/ready").statusCode() == 200);
            assertThat(index(http))
                    .containsPattern("\"name\":\"broken\",\"state\":\"UNAVAILABLE\",\"reason\":\"config");
            repository.simple("steady", "", 2);
            Await.until(
                    "the new version is ready",
                    () -> http.get("/v2/models/steady/versions/2/ready").statusCode() == 200);
            Await.until(
                    "the old version is gone",
                    () -> http.get("/v2/models/steady/versions/1/ready").statusCode() != 200);
            repository.config("steady", "this is no configuration");
            Await.until("the index tells", () -> index(http)
                    .contains("\"name\":\"steady\",\"version\":\"2\",\"state\":\"READY\",\"reason\":\"config.pbtxt:"));
            repository.remove("goes");
            Await.until("the model is gone", () -> !index(http).contains("goes"));
            HttpResponse<String> departed = http.post("/v2/models/goes/infer", SimpleModel.json());
            assertThat(departed.statusCode()).isEqualTo(404);
            assertThat(departed.body()).contains("Request for unknown model: 'goes' has no available versions");
            repository.simple("goes", "", 1);
            Await.until("the model is back", () -> infer(http, "goes") == 200);

            int before = answered.get();
            Await.until("the client is answered", () -> answered.get() > before || client.isDone());
            end.set(true);
            client.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldLiveWithoutItsRepositoryAndServeWhenItAppears() throws Exception {
        Path later = folder.resolve("later");
        try (ServerProcess server = ServerProcess.launch(
                        later,
                        "--exit-on-error=false",
                        "--strict-readiness=false",
                        "--model-control-mode=poll",
                        "--repository-poll-secs=1");
                HttpApi http = new HttpApi(server)) {
            server.expectErrors();
            assertThat(http.get("/v2/health/live").statusCode()).isEqualTo(200);
            assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(400);
            assertThat(http.get("/v2").statusCode()).isEqualTo(200);
            assertThat(index(http)).isEqualTo("[]");

            repository.simple("late", "", 1);
            Files.createDirectories(folder.resolve("prepared"));
            Files.move(folder.resolve("late"), folder.resolve("prepared/late"));
            Files.move(folder.resolve("prepared"), later);
            Await.until(
                    "the server is ready", () -> http.get("/v2/health/ready").statusCode() == 200);
            Await.until("the model answers", () -> infer(http, "late") == 200);
        }
    }

    @Test
    void shouldFinishWhatWasAcceptedWhenItIsToldToStop() throws Exception {
        repository.delay("slow", 300);
        try (ServerProcess server = ServerProcess.launch(folder);
                HttpApi http = new HttpApi(server);
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            String body = "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"INT32\",\"shape\":[1],\"data\":[5]}]}";
            List<Future<HttpResponse<String>>> responses = IntStream.range(0, 4)
                    .mapToObj(i -> clients.submit(() -> http.post("/v2/models/slow/infer", body)))
                    .toList();
            Await.until(
                    "all are accepted", () -> http.metric("nv_inference_pending_request_count{model=\"slow\"") >= 3);
            server.terminate();
            for (Future<HttpResponse<String>> answer : responses) {
                HttpResponse<String> response = answer.get(30, TimeUnit.SECONDS);
                assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
                assertThat(response.body()).contains("\"data\":[5]");
            }
            assertThat(server.awaitExit(Duration.ofSeconds(30))).isZero();
        }
    }
}
