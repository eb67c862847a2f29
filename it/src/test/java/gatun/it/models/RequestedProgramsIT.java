// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import gatun.wire.inference.ModelRepositoryParameter;
import gatun.wire.inference.RepositoryModelLoadRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Load requests decide neither which programs run nor under whose limits, on a server that lets clients load models. */
@Timeout(120)
class RequestedProgramsIT {
    @TempDir
    private static Path repository;

    /** Here programs of requests would leave files. */
    @TempDir
    private static Path traces;

    private static ServerProcess server;
    private static HttpApi http;

    @BeforeAll
    static void launch() throws Exception {
        ModelRepositoryFolder models = new ModelRepositoryFolder(repository);
        models.simple("plain", "", 1);
        models.simple("apart", "parameters { key: \"isolation\" value { string_value: \"process\" } }", 1);
        Files.createDirectories(repository.resolve("bare/1"));
        Files.writeString(repository.resolve("bare/1/main.py"), program("bare"));
        server = ServerProcess.launch(
                repository, "--model-control-mode=explicit", "--load-model=plain", "--load-model=apart");
        http = new HttpApi(server);
    }

    @AfterAll
    static void stop() {
        http.close();
        server.close();
    }

    private static String program(String name) {
        return "open('" + traces.resolve(name) + "', 'w').close()\n";
    }

    private static HttpResponse<String> load(String model, String config, Map<String, byte[]> files) {
        JsonObject parameters = new JsonObject();
        parameters.addProperty("config", config);
        files.forEach((name, content) ->
                parameters.addProperty("file:" + name, Base64.getEncoder().encodeToString(content)));
        JsonObject body = new JsonObject();
        body.add("parameters", parameters);
        return http.post("/v2/repository/models/" + model + "/load", body.toString());
    }

    private static HttpResponse<String> load(String model, String config) {
        return load(model, config, Map.of());
    }

    private static void assertRefused(HttpResponse<String> response, String... words) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
        assertThat(response.body()).contains(words);
    }

    private static void assertServes(String model) {
        HttpResponse<String> response = http.post("/v2/models/" + model + "/infer", SimpleModel.json());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.body()).contains(SimpleModel.jsonData(SimpleModel.SUM));
    }

    /** The metrics of the processes that instances of a model have. */
    private static List<String> processesOf(String model) {
        return http.send(HttpRequest.newBuilder(server.metrics()), HttpResponse.BodyHandlers.ofString())
                .body()
                .lines()
                .filter(line -> line.startsWith("gatun_worker_restarts") && line.contains("model=\"" + model + "\""))
                .toList();
    }

    private static String parameter(String name, String value) {
        JsonObject text = new JsonObject();
        text.addProperty("string_value", value);
        JsonObject parameters = new JsonObject();
        parameters.add(name, text);
        return parameters.toString();
    }

    /** Each of these has the process of an engine run something before it is asked anything. */
    @ParameterizedTest
    @ValueSource(strings = {"_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "LD_PRELOAD", "PATH"})
    void shouldGiveNoProcessAVariableOfARequest(String variable) {
        String value = "-Xlog:os:file=" + traces.resolve("log");
        String environment = parameter("isolation_env." + variable, value);
        String both =
                environment.substring(0, environment.length() - 1) + ",\"isolation\":{\"string_value\":\"process\"}}";
        assertRefused(
                load("apart", "{\"parameters\":" + environment + "}"), "parameter 'isolation_env." + variable + "'");
        assertRefused(load("plain", "{\"parameters\":" + both + "}"), "leave it out of the request");

        ModelRepositoryParameter config = ModelRepositoryParameter.newBuilder()
                .setStringParam("{\"parameters\":" + both + "}")
                .build();
        RepositoryModelLoadRequest request = RepositoryModelLoadRequest.newBuilder()
                .setModelName("plain")
                .putParameters("config", config)
                .build();
        try (GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            StatusRuntimeException refused = Assertions.catchThrowableOfType(
                    StatusRuntimeException.class, () -> grpc.service().repositoryModelLoad(request));
            assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        }
        assertThat(traces).isEmptyDirectory();
        assertServes("plain");
        assertServes("apart");
    }

    @Test
    void shouldKeepAModelInItsProcessWhateverARequestSays() {
        assertRefused(
                load("apart", "{\"parameters\":" + parameter("isolation", "none") + "}"), "'isolation'", "<none>");
        assertRefused(load("plain", "{\"parameters\":" + parameter("isolation", "process") + "}"), "'isolation'");
        assertThat(processesOf("apart")).isNotEmpty();

        HttpResponse<String> loaded = load("apart", "{\"max_batch_size\":4,\"instance_group\":[{\"count\":3}]}");
        assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
        assertThat(http.get("/v2/models/apart/config").body()).contains("\"max_batch_size\":4", "\"isolation\"");
        assertServes("apart");
        Await.until("each instance has its process", () -> processesOf("apart").size() == 3);

        // Nor where the request brings the files, under the operator's name of them.
        HttpResponse<String> brought = load(
                "apart",
                "{\"backend\":\"onnxruntime\",\"instance_group\":[{\"count\":4}]}",
                Map.of("1/model.onnx", onnx()));
        assertThat(brought.statusCode()).as(brought.body()).isEqualTo(200);
        Await.until("each instance has its process", () -> processesOf("apart").size() == 4);
    }

    private static byte[] onnx() {
        try {
            return ModelRepositoryFolder.simpleModelFile();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As clients of Triton do it: they ask for the configuration, change a line, and send all of it. */
    @Test
    void shouldTakeTheWholeConfigurationWithChangedNumbers() {
        JsonObject config = JsonParser.parseString(
                        http.get("/v2/models/plain/config").body())
                .getAsJsonObject();
        config.addProperty("max_batch_size", 3);
        JsonObject group = config.getAsJsonArray("instance_group").get(0).getAsJsonObject();
        group.addProperty("count", 2);
        JsonArray groups = new JsonArray();
        groups.add(group);
        config.add("instance_group", groups);

        HttpResponse<String> loaded = load("plain", config.toString());
        assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
        assertThat(http.get("/v2/models/plain/config").body()).contains("\"max_batch_size\":3", "\"count\":2");
        assertServes("plain");
        HttpResponse<String> threads =
                load("plain", "{\"parameters\":" + parameter("intra_op_thread_count", "1") + "}");
        assertThat(threads.statusCode()).as(threads.body()).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1/model.py",
                "1/model.savedmodel/saved_model.pb",
                "1/saved_model.pb",
                "1/model.graphdef",
                "1/model.pt",
                "1/model.pt2"
            })
    void shouldTakeNoFilesThatArePrograms(String file) {
        Map<String, byte[]> files = Map.of(file, program("uploaded").getBytes(StandardCharsets.UTF_8));
        assertRefused(load("stranger", "{}", files), "allow uploads with --backend-config=", "allow-uploads=true");
        assertThat(http.post("/v2/repository/index", "").body()).doesNotContain("stranger");

        // Beside an ONNX model, or in its place, such a file is none that an engine runs.
        assertRefused(load("plain", "{\"backend\":\"python\"}", files), "'backend'");
        Map<String, byte[]> both = Map.of(file, files.get(file), "1/model.onnx", onnx());
        HttpResponse<String> beside = load("beside", "{\"backend\":\"onnxruntime\"}", both);
        assertThat(beside.statusCode()).as(beside.body()).isEqualTo(200);
        assertServes("beside");
        assertThat(traces).isEmptyDirectory();
    }

    @Test
    void shouldChooseNoProgramInTheRepository() {
        assertRefused(load("bare", "{\"backend\":\"python\"}"), "allow uploads");
        assertRefused(
                load("bare", "{\"backend\":\"python\",\"default_model_filename\":\"main.py\"}"),
                "'default_model_filename'");
        assertRefused(load("plain", "{\"backend\":\"python\"}"), "'backend'");
        assertRefused(
                load("plain", "{\"model_operations\":{\"op_library_filename\":[\"/tmp/x.so\"]}}"),
                "'model_operations'");
        assertRefused(
                load(
                        "plain",
                        "{\"parameters\":" + parameter("session.model_external_initializers_file_folder_path", "/")
                                + "}"),
                "parameter 'session.model_external_initializers_file_folder_path'");
        assertThat(traces).isEmptyDirectory();
        assertServes("plain");
    }

    /** A graph is data only as long as its tensors come from its own folder. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldReadNoTensorFromOutsideTheFilesOfARequest(boolean absolute) throws IOException {
        Path secret = Files.writeString(repository.resolve("secret"), "SECRETSECRETSECR");
        String location = absolute ? secret.toString() : "../".repeat(20) + secret;
        ByteString weights = message(
                1, 16, 2, 2, 8, "W", 13, message(1, "location", 2, location), 13, message(1, "length", 2, "16"), 14, 1);
        ByteString model = message(
                1,
                8,
                8,
                message(1, "", 2, 13),
                7,
                message(
                        1,
                        message(1, "W", 2, "Y", 4, "Identity"),
                        2,
                        "graph",
                        5,
                        weights,
                        12,
                        message(1, "Y", 2, message(1, message(1, 2, 2, message(1, message(1, 16)))))));
        assertRefused(
                load("reader", "{\"backend\":\"onnxruntime\"}", Map.of("1/model.onnx", model.toByteArray())),
                "model 'reader'",
                "xternal");
    }

    /** A message of protobuf: numbers of fields, each followed by its value. */
    private static ByteString message(Object... fields) {
        UnknownFieldSet.Builder message = UnknownFieldSet.newBuilder();
        for (int i = 0; i < fields.length; i += 2) {
            UnknownFieldSet.Field.Builder field = UnknownFieldSet.Field.newBuilder();
            switch (fields[i + 1]) {
                case Integer number -> field.addVarint(number);
                case String text -> field.addLengthDelimited(ByteString.copyFromUtf8(text));
                default -> field.addLengthDelimited((ByteString) fields[i + 1]);
            }
            message.mergeField((int) fields[i], field.build());
        }
        return message.build().toByteString();
    }
}
