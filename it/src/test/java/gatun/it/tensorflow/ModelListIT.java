// SPDX-License-Identifier: Apache-2.0
package gatun.it.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Int64Value;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import gatun.testing.FreePorts;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.serving.GetModelStatusRequest;
import gatun.wire.tensorflow.serving.ModelServiceGrpc;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.ModelVersionStatus;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.PredictResponse;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import gatun.wire.tensorflow.serving.ReloadConfigRequest;
import gatun.wire.tensorflow.serving.ReloadConfigResponse;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Models that the operator names as TensorFlow Serving is told, in the real server: ONNX models, since their engine is
 * always there.
 */
@Timeout(120)
class ModelListIT {
    @TempDir
    Path folder;

    @BeforeEach
    void prepare() throws IOException {
        version("adder", 1);
    }

    /** A version of the model {@code simple}, whose configuration is completed from its file. */
    private void version(String directory, int number) throws IOException {
        version(directory, Integer.toString(number), "simple");
    }

    /** A version in a directory of that name, of one of the example models. */
    private void version(String directory, String versionName, String example) throws IOException {
        Path version = folder.resolve(directory + "-" + versionName);
        Files.createDirectories(version);
        Files.copy(ServerProcess.exampleModels().resolve(example + "/1/model.onnx"), version.resolve("model.onnx"));
        Path base = Files.createDirectories(folder.resolve(directory));
        Files.move(version, base.resolve(versionName));
    }

    private static HttpResponse<String> get(HttpClient http, String url) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Gives a label to a version that is not there; returns how many requests were counted meanwhile. */
    private long reloadedWithALabel(GrpcClient grpc) {
        ReloadConfigRequest.Builder request =
                ReloadConfigRequest.newBuilder().addMetricNames("/tensorflow/serving/request_count");
        request.getConfigBuilder()
                .getModelConfigListBuilder()
                .addConfigBuilder()
                .setName("sums")
                .setBasePath(folder.resolve("adder").toString())
                .setModelPlatform("tensorflow")
                .putVersionLabels("next", 9);
        ReloadConfigResponse response = ModelServiceGrpc.newBlockingStub(grpc.channel())
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .handleReloadConfigRequest(request.build());
        assertThat(response.getMetric(0).getName()).isEqualTo("/tensorflow/serving/request_count");
        return response.getMetric(0).getInt64ValueIncrease();
    }

    private static ServerProcess launch(String... flags) throws InterruptedException {
        return ServerProcess.launchList(flags);
    }

    private static PredictResponse predict(GrpcClient grpc, ModelSpec.Builder spec) {
        PredictRequest.Builder request = PredictRequest.newBuilder().setModelSpec(spec);
        request.putInputs("INPUT0", tensor(SimpleModel.LEFT)).putInputs("INPUT1", tensor(SimpleModel.RIGHT));
        return PredictionServiceGrpc.newBlockingStub(grpc.channel())
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .predict(request.build());
    }

    private static TensorProto tensor(int[] values) {
        TensorProto.Builder tensor = TensorProto.newBuilder().setDtype(DataType.DT_INT32);
        tensor.getTensorShapeBuilder().addDimBuilder().setSize(1);
        tensor.getTensorShapeBuilder().addDimBuilder().setSize(values.length);
        Arrays.stream(values).forEach(tensor::addIntVal);
        return tensor.build();
    }

    private static ServingStatus health(GrpcClient grpc, String service) {
        return HealthGrpc.newBlockingStub(grpc.channel())
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .check(HealthCheckRequest.newBuilder().setService(service).build())
                .getStatus();
    }

    private static ModelSpec.Builder model(String name) {
        return ModelSpec.newBuilder().setName(name);
    }

    private static List<Long> available(GrpcClient grpc, String name) {
        return ModelServiceGrpc.newBlockingStub(grpc.channel())
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .getModelStatus(GetModelStatusRequest.newBuilder()
                        .setModelSpec(model(name))
                        .build())
                .getModelVersionStatusList()
                .stream()
                .filter(version -> version.getState() == ModelVersionStatus.State.AVAILABLE)
                .map(ModelVersionStatus::getVersion)
                .toList();
    }

    private static void awaitAvailable(GrpcClient grpc, String name, Long... versions) {
        Await.until("versions %s of %s".formatted(Arrays.toString(versions), name), () -> availableOrNone(grpc, name)
                .equals(List.of(versions)));
    }

    private static List<Long> availableOrNone(GrpcClient grpc, String name) {
        try {
            return available(grpc, name);
        } catch (StatusRuntimeException unknown) {
            return List.of();
        }
    }

    @Test
    void shouldServeOneModelAndFollowItsVersions() throws Exception {
        try (ServerProcess server = launch("--model_name=sums", "--model_base_path=" + folder.resolve("adder"));
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            PredictResponse response = predict(grpc, model("sums"));
            assertThat(response.getOutputsOrThrow("OUTPUT0").getIntValList())
                    .containsExactlyElementsOf(
                            Arrays.stream(SimpleModel.SUM).boxed().toList());
            assertThat(response.getModelSpec().getVersion().getValue()).isEqualTo(1);

            version("adder", 2);
            awaitAvailable(grpc, "sums", 2L);
            assertThat(predict(grpc, model("sums")).getModelSpec().getVersion().getValue())
                    .isEqualTo(2);
        }
    }

    @Test
    void shouldWaitForTheFirstVersionOfAnEmptyFolder() throws Exception {
        Path empty = Files.createDirectories(folder.resolve("empty"));
        try (ServerProcess server =
                        launch("--model_name=sums", "--model_base_path=" + empty, "--file_system_poll_wait_seconds=1");
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort());
                HttpApi http = new HttpApi(server)) {
            assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(400);
            assertThat(http.get("/v1/models/sums").statusCode()).isEqualTo(404);

            version("empty", 3);
            awaitAvailable(grpc, "sums", 3L);
            assertThat(predict(grpc, model("sums")).getModelSpec().getVersion().getValue())
                    .isEqualTo(3);
            assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldServeVersionsThatDifferAndAreNamedWithLeadingZeros() throws Exception {
        version("mixed", "00000123", "simple");
        version("mixed", "00000124", "softmax");
        Path file = folder.resolve("models.config");
        Files.writeString(file, """
                model_config_list { config { name: "mixed" base_path: "%s" model_platform: "tensorflow"
                  model_version_policy { all { } } } }
                """.formatted(folder.resolve("mixed")));
        try (ServerProcess server = launch("--model_config_file=" + file);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort());
                HttpApi rest = new HttpApi(server)) {
            assertThat(available(grpc, "mixed")).containsExactly(124L, 123L);
            ModelSpec.Builder older = model("mixed").setVersion(Int64Value.of(123));
            assertThat(predict(grpc, older).getOutputsOrThrow("OUTPUT0").getIntValList())
                    .containsExactlyElementsOf(
                            Arrays.stream(SimpleModel.SUM).boxed().toList());
            assertThat(rest.get("/v1/models/mixed/versions/123/metadata").body())
                    .contains("\"INPUT1\"");
            assertThat(rest.get("/v1/models/mixed/metadata").body()).doesNotContain("\"INPUT1\"");
        }
    }

    @Test
    void shouldListenOnThePortOfTensorFlowServingsToo() throws Exception {
        try (ServerProcess server = FreePorts.start(
                        ports -> launch("--model_base_path=" + folder.resolve("adder"), "--port=" + ports.getAsInt()));
                GrpcClient grpc = GrpcClient.tcp(Integer.parseInt(server.ready("tensorflow-grpc.port")))) {
            assertThat(predict(grpc, model("default"))
                            .getModelSpec()
                            .getVersion()
                            .getValue())
                    .isEqualTo(1);
        }
    }

    @Test
    void shouldTakeTheArgumentsOfTensorFlowServingsProgram() throws Exception {
        Path batching = Files.writeString(folder.resolve("batching.config"), """
                max_batch_size { value: 4 } batch_timeout_micros { value: 100 } num_batch_threads { value: 2 }
                allowed_batch_sizes: 2 allowed_batch_sizes: 4
                """);
        Path monitoring = Files.writeString(folder.resolve("monitoring.config"), "prometheus_config { enable: true }");
        try (ServerProcess server = FreePorts.start(ports -> ServerProcess.launchModelServer(
                        "--rest_api_port=" + ports.getAsInt(),
                        "--monitoring_config_file=" + monitoring,
                        "--allow_version_labels_for_unavailable_models=true",
                        "--port=" + ports.getAsInt(),
                        "--grpc_socket_path=" + folder.resolve("grpc.sock"),
                        "--model_name=sums",
                        "--model_base_path=" + folder.resolve("adder"),
                        "--enable_batching=true",
                        "--batching_parameters_file=" + batching,
                        "--rest_api_num_threads=4",
                        "--tensorflow_session_parallelism=1",
                        "--grpc_channel_arguments=grpc.max_connection_age_ms=600000",
                        "--max_num_load_retries=1",
                        "--flush_filesystem_caches=false"));
                GrpcClient grpc = GrpcClient.tcp(Integer.parseInt(server.ready("tensorflow-grpc.port")))) {
            assertThat(server.ready("grpc.unix-socket"))
                    .isEqualTo(folder.resolve("grpc.sock").toString());
            assertThat(server.readyKeys()).contains("rest.port").doesNotContain("http.url", "metrics.url", "grpc.port");
            assertThat(predict(grpc, model("sums")).getOutputsOrThrow("OUTPUT0").getIntValList())
                    .containsExactlyElementsOf(
                            Arrays.stream(SimpleModel.SUM).boxed().toList());
            PredictRequest.Builder large = PredictRequest.newBuilder().setModelSpec(model("sums"));
            TensorProto.Builder rows = TensorProto.newBuilder().setDtype(DataType.DT_INT32);
            rows.getTensorShapeBuilder().addDimBuilder().setSize(5);
            rows.getTensorShapeBuilder().addDimBuilder().setSize(SimpleModel.LEFT.length);
            large.putInputs("INPUT0", rows.build()).putInputs("INPUT1", rows.build());
            assertThatThrownBy(() -> PredictionServiceGrpc.newBlockingStub(grpc.channel())
                            .withDeadlineAfter(20, TimeUnit.SECONDS)
                            .predict(large.build()))
                    .hasMessage("INVALID_ARGUMENT: Task size 5 is larger than maximum input batch size 4");
            String rest = "http://127.0.0.1:" + server.ready("rest.port");
            String metrics = rest + "/monitoring/prometheus/metrics";
            HttpClient http = HttpClient.newHttpClient();
            HttpResponse<String> missing = http.send(
                    HttpRequest.newBuilder(URI.create(rest + "/v1/models/none:predict"))
                            .POST(HttpRequest.BodyPublishers.ofString("{\"instances\":[1]}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(missing.statusCode()).isEqualTo(404);
            assertThat(get(http, metrics).headers().firstValue("content-type")).contains("text/plain");
            assertThat(get(http, metrics).body())
                    .contains(
                            ":tensorflow:serving:request_count{model_name=\"none\",status=\"NOT_FOUND\"} 1\n",
                            ":tensorflow:serving:request_count{model_name=\"sums\",status=\"INVALID_ARGUMENT\"} 1\n",
                            ":tensorflow:serving:request_count{model_name=\"sums\",status=\"OK\"} 1\n",
                            ":tensorflow:serving:request_latency_count{model_name=\"sums\",API=\"Predict\",entrypoint=\"GRPC\"} 1\n",
                            ":tensorflow:serving:runtime_latency_count{model_name=\"sums\",API=\"Predict\",runtime=\"TF1\"} 1\n");
            HttpResponse<String> unexpected = get(http, metrics + "?x=y");
            assertThat(unexpected.statusCode()).isEqualTo(400);
            assertThat(unexpected.body())
                    .isEqualTo("Unexpected path: /monitoring/prometheus/metrics?x=y. Should be"
                            + " /monitoring/prometheus/metrics");
            assertThat(reloadedWithALabel(grpc)).isZero();
            assertThat(health(grpc, "")).isEqualTo(ServingStatus.SERVING);
            assertThat(health(grpc, PredictionServiceGrpc.SERVICE_NAME)).isEqualTo(ServingStatus.SERVING);
            assertThatThrownBy(() -> health(grpc, "any")).hasMessageStartingWith("NOT_FOUND: service name unknown");
            assertThat(server.log())
                    .contains("--rest_api_num_threads is a flag of TensorFlow Serving that has no effect in Gatun: each"
                            + " request has a virtual thread");
        }
    }

    @Test
    void shouldFollowTheListInAFile() throws Exception {
        version("adder", 2);
        Path file = folder.resolve("models.config");
        list(file, "first", "all { }", "version_labels { key: \"stable\" value: 1 }");
        try (ServerProcess server = launch("--model_config_file=" + file, "--model_config_file_poll_wait_seconds=1");
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort());
                HttpApi rest = new HttpApi(server)) {
            assertThat(available(grpc, "first")).containsExactly(2L, 1L);
            assertThat(rest.get("/v1/models/first/metadata").body()).contains("\"version\": \"2\"");
            assertThat(rest.get("/v1/models/first/labels/stable/metadata").body())
                    .contains("\"version\": \"1\"");
            assertThat(rest.get("/v1/models/first/labels/stable").body())
                    .contains("\"version\": \"1\"", "\"version\": \"2\"");
            assertThat(rest.post("/v1/models/first/labels/stable:predict", "{}").body())
                    .contains("Missing 'inputs' or 'instances' key");
            assertThat(rest.post("/v1/models/first/labels/canary:predict", "{}").body())
                    .contains("Unrecognized servable version label: canary");
            assertThat(predict(grpc, model("first").setVersionLabel("stable"))
                            .getModelSpec()
                            .getVersion()
                            .getValue())
                    .isEqualTo(1);

            list(file, "second", "latest { num_versions: 1 }", "");
            awaitAvailable(grpc, "second", 2L);
            awaitAvailable(grpc, "first");
        }
    }

    @Test
    void shouldAnswerALabelByItsOldVersionUntilTheNewOneServes() throws Exception {
        Path model = Files.createDirectories(folder.resolve("adder"));
        Files.writeString(model.resolve("config.pbtxt"), """
                backend: "identity"
                parameters { key: "creation_delay_sec" value { string_value: "2" } }
                input { name: "IN" data_type: TYPE_FP32 dims: 1 }
                output { name: "OUT" data_type: TYPE_FP32 dims: 1 }
                """);
        Files.createDirectories(model.resolve("2"));
        Path file = folder.resolve("models.config");
        list(file, "sums", "specific { versions: 1 }", "version_labels { key: \"stable\" value: 1 }");
        try (ServerProcess server = launch("--model_config_file=" + file, "--model_config_file_poll_wait_seconds=1");
                HttpApi rest = new HttpApi(server)) {
            String stable = "/v1/models/sums/labels/stable/metadata";
            assertThat(rest.get(stable).body()).contains("\"version\": \"1\"");

            list(file, "sums", "specific { versions: 2 }", "version_labels { key: \"stable\" value: 2 }");
            List<Integer> statuses = new ArrayList<>();
            Await.until("the label to stand for version 2", () -> {
                HttpResponse<String> response = rest.get(stable);
                statuses.add(response.statusCode());
                return response.body().contains("\"version\": \"2\"");
            });
            assertThat(statuses).containsOnly(200);
            Await.until("the move in the log", () -> server.log()
                    .contains("The label 'stable' of model 'sums' stands for version 2 now"));

            list(file, "sums", "all { }", "version_labels { key: \"stable\" value: 3 }");
            Await.until("the refusal in the log", () -> server.log()
                    .contains("The label 'stable' of model 'sums' stays with version 2 until version 3 serves: there is"
                            + " no such version, or the list's policy leaves it out"));
            assertThat(rest.get(stable).body()).contains("\"version\": \"2\"");
        }
    }

    private void list(Path file, String name, String policy, String more) throws IOException {
        Path written = folder.resolve("written");
        Files.writeString(written, """
                model_config_list { config { name: "%s" base_path: "%s" model_platform: "tensorflow"
                  model_version_policy { %s } %s } }
                """.formatted(name, folder.resolve("adder"), policy, more));
        Files.move(written, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** The status of a reload that lists this folder too. */
    private static String reload(GrpcClient grpc, Path operators, Path folder) {
        ReloadConfigRequest.Builder request = ReloadConfigRequest.newBuilder();
        var list = request.getConfigBuilder().getModelConfigListBuilder();
        list.addConfigBuilder()
                .setName("sums")
                .setBasePath(operators.toString())
                .setModelPlatform("tensorflow");
        list.addConfigBuilder().setName("more").setBasePath(folder.toString()).setModelPlatform("tensorflow");
        try {
            return ModelServiceGrpc.newBlockingStub(grpc.channel())
                    .withDeadlineAfter(60, TimeUnit.SECONDS)
                    .handleReloadConfigRequest(request.build())
                    .getStatus()
                    .getErrorCode()
                    .name();
        } catch (StatusRuntimeException e) {
            return e.getMessage();
        }
    }

    @Test
    void shouldServeFoldersOfAReloadBesideTheListedOnesAlone() throws Exception {
        Path own = Files.createDirectory(folder.resolve("own"));
        Files.move(folder.resolve("adder"), own.resolve("adder"));
        version("own/second", 1);
        Path trace = folder.resolve("trace");
        Path program =
                Files.createDirectories(folder.resolve("foreign/program/1")).resolve("model.py");
        Files.writeString(program, "open('" + trace + "', 'w').close()");
        Files.writeString(program.resolveSibling("../config.pbtxt"), "backend: \"python\" max_batch_size: 0");
        Path foreign = folder.resolve("foreign/program");
        Files.createSymbolicLink(own.resolve("link"), foreign);
        Path adder = own.resolve("adder");
        Path opened = Files.createDirectory(folder.resolve("opened"));
        Files.setPosixFilePermissions(opened, PosixFilePermissions.fromString("rwxrwxrwx"));
        version("opened/third", 1);
        try (ServerProcess server =
                        launch("--model_name=sums", "--model_base_path=" + adder, "--reload-base-path=" + opened);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            for (Path refused : List.of(foreign, own.resolve("link"), own.resolve("../foreign/program"))) {
                assertThat(reload(grpc, adder, refused))
                        .startsWith("INVALID_ARGUMENT: base_path()=" + refused + " of model more is refused, since ")
                        .contains("--reload-base-path=DIR");
            }
            assertThat(availableOrNone(grpc, "more")).isEmpty();
            assertThat(available(grpc, "sums")).containsExactly(1L);
            assertThat(trace).doesNotExist();

            assertThat(reload(grpc, adder, own.resolve("second"))).isEqualTo("OK");
            assertThat(available(grpc, "more")).containsExactly(1L);
            assertThat(reload(grpc, adder, opened.resolve("third"))).isEqualTo("OK");
            assertThat(available(grpc, "more")).containsExactly(1L);

            Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rwxrwxrwx"));
            assertThat(reload(grpc, adder, own.resolve("second")))
                    .startsWith("INVALID_ARGUMENT: ")
                    .contains("others than root and the server's user may write to");
            assertThat(reload(grpc, adder, opened.resolve("third"))).isEqualTo("OK");
        }
    }

    @Test
    void shouldNotLetClientsReplaceAListThatTheOperatorDidNotGive() throws Exception {
        try (ServerProcess server = ServerProcess.launch(ServerProcess.exampleModels());
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            ReloadConfigRequest.Builder request = ReloadConfigRequest.newBuilder();
            request.getConfigBuilder().getModelConfigListBuilder();

            assertThatThrownBy(() -> ModelServiceGrpc.newBlockingStub(grpc.channel())
                            .withDeadlineAfter(20, TimeUnit.SECONDS)
                            .handleReloadConfigRequest(request.build()))
                    .isInstanceOf(StatusRuntimeException.class)
                    .hasMessageStartingWith("UNAVAILABLE: the server was not started with a list of models");
        }
    }
}
