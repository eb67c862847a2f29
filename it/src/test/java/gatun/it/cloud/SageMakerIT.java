// SPDX-License-Identifier: Apache-2.0
package gatun.it.cloud;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The endpoint for SageMaker in the real server: one model at /invocations, and others that come and go at /models. */
@Timeout(120)
class SageMakerIT {
    private static final String BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size=";

    @TempDir
    static Path folder;

    private static Path models;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(SageMakerIT::start);

    private static final HttpApi http = server.http();

    private static ServerProcess start() throws Exception {
        Path repository = Files.createDirectories(folder.resolve("repository"));
        models = Files.createDirectories(folder.resolve("models"));
        new ModelRepositoryFolder(repository).simple("simple", "", 1);
        // The model's folder is the archive's.
        new ModelRepositoryFolder(Files.createDirectories(models.resolve("one")))
                .simple("model", "name: \"as_it_was_trained\"", 1);
        // The archive holds an ensemble and its member.
        Path pair = Files.createDirectories(models.resolve("two/model"));
        new ModelRepositoryFolder(pair).simple("member", "", 1);
        Files.createDirectories(pair.resolve("whole/1"));
        new ModelRepositoryFolder(pair)
                .config(
                        "whole",
                        Files.readString(ServerProcess.exampleModels().resolve("simple_ensemble/config.pbtxt"))
                                .replace("name: \"simple_ensemble\"", "")
                                .replace("\"simple\"", "\"member\""));
        Files.createDirectories(models.resolve("three/model/1"));
        Files.writeString(models.resolve("three/model/config.pbtxt"), "backend: \"absent\"");
        Files.createDirectories(models.resolve("leading"));
        Files.createSymbolicLink(models.resolve("leading/model"), repository);
        return ServerProcess.launch(
                repository,
                Map.of("SAGEMAKER_TRITON_DEFAULT_MODEL_NAME", "simple", "SAGEMAKER_TRITON_PING_MODE", "live"),
                "--model-control-mode=explicit",
                "--load-model=simple",
                "--allow-sagemaker=true",
                "--sagemaker-port=0",
                "--sagemaker-model-directory=" + models,
                "--limit-models=5",
                "--http-restricted-api=model-repository:key=secret");
    }

    private static HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(server.process().ready("sagemaker.url") + path))
                .header("key", "secret");
    }

    private static HttpResponse<String> get(String path) {
        return http.send(request(path), BodyHandlers.ofString());
    }

    private static HttpResponse<String> post(String path, String body) {
        return http.send(request(path).POST(BodyPublishers.ofString(body)), BodyHandlers.ofString());
    }

    private static HttpResponse<String> load(String name, String url) {
        return post("/models", "{\"model_name\": \"%s\", \"url\": \"%s\"}".formatted(name, url));
    }

    private static int unload(String name) {
        return http.send(request("/models/" + name).DELETE(), BodyHandlers.discarding())
                .statusCode();
    }

    @Test
    void shouldAnswerPingsAndInvocationsOfTheDefaultModel() {
        assertThat(get("/ping").statusCode()).isEqualTo(200);
        assertThat(get("/v2/health/live").statusCode()).isEqualTo(400);
        assertThat(get("/invocations").statusCode()).isEqualTo(405);
        assertThat(post("/invocations", SimpleModel.json()).body()).contains(SimpleModel.jsonData(SimpleModel.SUM));
        assertThat(post("/invocations", "{").statusCode()).isEqualTo(400);
    }

    @Test
    void shouldTellTheLengthOfJsonInTheContentType() {
        byte[] header = SimpleModel.binaryHeader().getBytes(UTF_8);
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes(header);
        body.writeBytes(SimpleModel.bytes(SimpleModel.LEFT));
        body.writeBytes(SimpleModel.bytes(SimpleModel.RIGHT));

        HttpResponse<byte[]> response = http.send(
                request("/invocations")
                        .header("Content-Type", BINARY + header.length)
                        .POST(BodyPublishers.ofByteArray(body.toByteArray())),
                BodyHandlers.ofByteArray());

        String contentType = response.headers().firstValue("Content-Type").orElseThrow();
        assertThat(contentType).startsWith(BINARY);
        assertThat(response.body()).hasSize(Integer.parseInt(contentType.substring(BINARY.length())) + 128);
        assertThat(response.body()).endsWith(SimpleModel.bytes(SimpleModel.DIFFERENCE));
    }

    @Test
    void shouldLoadListInvokeAndUnloadModels() {
        String url = models.resolve("one/model").toString();
        assertThat(post("/models/first/invoke", SimpleModel.json()).statusCode())
                .as("it is not loaded")
                .isEqualTo(404);
        assertThat(load("first", url).statusCode()).isEqualTo(200);
        assertThat(load("first", url).statusCode()).isEqualTo(409);

        String listed = "{\"modelName\":\"first\",\"modelUrl\":\"" + models.resolve("one") + "\"}";
        assertThat(get("/models").body()).isEqualTo("{\"models\":[" + listed + "]}");
        assertThat(get("/models/first").body()).isEqualTo(listed);
        assertThat(get("/models/other").statusCode()).isEqualTo(404);
        assertThat(post("/models/first/invoke", SimpleModel.json()).body())
                .contains(SimpleModel.jsonData(SimpleModel.SUM));
        assertThat(post("/models/first/invoke", "{}").statusCode()).isEqualTo(400);

        assertThat(unload("first")).isEqualTo(200);
        assertThat(unload("first")).isEqualTo(404);
        assertThat(post("/models/first/invoke", SimpleModel.json()).statusCode())
                .isEqualTo(404);
        assertThat(get("/models/").body()).isEqualTo("{\"models\":[]}");
    }

    @Test
    void shouldLoadAnEnsembleUnderTheNameOfItsArchiveAndNoOtherModelByThatHeader() {
        HttpRequest.Builder load = request("/models")
                .header("X-Amzn-SageMaker-Target-Model", "pair.tar.gz")
                .POST(BodyPublishers.ofString(
                        "{\"model_name\": \"hash\", \"url\": \"" + models.resolve("two/model/") + "\"}"));
        assertThat(http.send(load, BodyHandlers.ofString()).body()).isEmpty();

        HttpRequest.Builder invoke = request("/models/hash/invoke")
                .header("X-Amzn-SageMaker-Target-Model", "absent")
                .POST(BodyPublishers.ofString(SimpleModel.json()));
        assertThat(http.send(invoke, BodyHandlers.ofString()).body())
                .contains("\"model_name\":\"pair.tar.gz\"")
                .contains("\"name\":\"TWICE0\"");
        assertThat(post("/models/pair.tar.gz/invoke", SimpleModel.json()).statusCode())
                .as("only hashes are names")
                .isEqualTo(404);
        assertThat(post("/models/simple/invoke", SimpleModel.json()).statusCode())
                .as("a model of the repository")
                .isEqualTo(404);
        assertThat(unload("hash")).isEqualTo(200);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/etc",
                "/dev/shm/model",
                "%s",
                "%s/one",
                "%s/one/other",
                "%s/one/model/a/b",
                "%s/../repository/model",
                "%s/one/model/../../..",
                "%s/leading/model/simple",
                "%s/absent/model",
                "relative/model",
                ""
            })
    void shouldLoadFromNowhereButItsFolder(String url) {
        HttpResponse<String> response = load("outside", url.formatted(models));

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).containsAnyOf("url", "repository not found");
        assertThat(get("/models/outside").statusCode()).isEqualTo(404);
    }

    @Test
    void shouldLeaveNothingBehindWhenALoadFails() {
        String broken = models.resolve("three/model").toString();
        for (int i = 0; i < 8; i++) {
            assertThat(load("broken" + i, broken).statusCode()).isEqualTo(400);
        }
        assertThat(get("/models/broken0").statusCode()).isEqualTo(404);
        assertThat(load("simple", models.resolve("one/model").toString()).statusCode())
                .as("the name of a model of the repository")
                .isEqualTo(409);
        assertThat(load("../x", models.resolve("one/model").toString()).statusCode())
                .isEqualTo(400);
        assertThat(post("/models", "{\"url\": 1}").statusCode()).isEqualTo(400);
        assertThat(post("/invocations", SimpleModel.json()).statusCode()).isEqualTo(200);
    }

    @Test
    void shouldSayThatThereIsNoRoomForMoreModels() {
        String url = models.resolve("one/model").toString();
        int loaded = 0;
        HttpResponse<String> response = load("many0", url);
        while (response.statusCode() == 200 && loaded < 10) {
            loaded++;
            response = load("many" + loaded, url);
        }
        assertThat(response.statusCode()).as(response.body()).isEqualTo(507);
        assertThat(response.body()).contains("--limit-models");
        for (int i = 0; i < loaded; i++) {
            assertThat(unload("many" + i)).isEqualTo(200);
        }
        assertThat(load("many0", url).statusCode()).isEqualTo(200);
        assertThat(unload("many0")).isEqualTo(200);
    }

    @Test
    void shouldRestrictTheRepositoryAndNotInference() {
        HttpRequest.Builder list =
                HttpRequest.newBuilder(URI.create(server.process().ready("sagemaker.url") + "/models"));
        HttpResponse<String> refused = http.send(list, BodyHandlers.ofString());
        assertThat(refused.statusCode()).isEqualTo(403);
        assertThat(refused.body()).contains("This API is restricted");
        HttpRequest.Builder invoke = HttpRequest.newBuilder(
                        URI.create(server.process().ready("sagemaker.url") + "/invocations"))
                .POST(BodyPublishers.ofString(SimpleModel.json()));
        assertThat(http.send(invoke, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
    }

    @Test
    void shouldGenerateWhereTheVariableSaysSo() throws Exception {
        Path repository = folder.resolve("texts");
        Files.createDirectories(repository.resolve("echo/1"));
        new ModelRepositoryFolder(repository).config("echo", """
                backend: "identity"
                input [ { name: "INPUT0" data_type: TYPE_STRING dims: [ 1 ] } ]
                output [ { name: "OUTPUT0" data_type: TYPE_STRING dims: [ 1 ] } ]
                """);
        try (ServerProcess generating = ServerProcess.launch(
                repository,
                Map.of(
                        "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME",
                        "echo",
                        "SAGEMAKER_TRITON_INFERENCE_TYPE",
                        "generate_stream"),
                "--allow-sagemaker",
                "--sagemaker-port=0")) {
            HttpRequest.Builder invoke = HttpRequest.newBuilder(
                            URI.create(generating.ready("sagemaker.url") + "/invocations"))
                    .POST(BodyPublishers.ofString("{\"INPUT0\": \"hello\"}"));

            HttpResponse<String> response = http.send(invoke, BodyHandlers.ofString());

            assertThat(response.headers().firstValue("Content-Type").orElseThrow())
                    .startsWith("text/event-stream");
            assertThat(response.body()).startsWith("data: {").contains("\"OUTPUT0\":\"hello\"");
        }
    }

    @Test
    void shouldKeepOtherPortsInTheRange() {
        try (ServerProcess failing = ServerProcess.start(
                        List.of(
                                "serve",
                                "--model-repository=" + models.resolve("one"),
                                "--allow-sagemaker",
                                "--sagemaker-port=0",
                                "--sagemaker-safe-port-range=19000-19001",
                                "--allow-grpc=false",
                                "--allow-metrics=false",
                                "--http-port=18999"),
                        Map.of())
                .expectErrors()) {
            assertThat(failing.awaitExit(Duration.ofSeconds(60))).isNotZero();
            assertThat(failing.log())
                    .contains("The server cannot listen to HTTP requests at port 18999, allowed port range is"
                            + " [19000, 19001]");
        }
    }
}
