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
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The endpoint for Vertex AI in the real server.process(), started by the variables that Vertex AI sets. */
@Timeout(120)
class VertexAiIT {
    private static final String BINARY = "application/vnd.vertex-ai-triton.binary+json;json-header-size=";
    private static final Map<String, String> VARIABLES = Map.of(
            "AIP_MODE", "PREDICTION",
            "AIP_HTTP_PORT", "0",
            "AIP_HEALTH_ROUTE", "/health",
            "AIP_PREDICT_ROUTE", "/v1/endpoints/7/deployedModels/8:predict");

    @TempDir
    static Path repository;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(VertexAiIT::start);

    private static final HttpApi http = server.http();

    private static ServerProcess start() throws Exception {
        new ModelRepositoryFolder(repository).simple("simple", "", 1);
        return ServerProcess.launch(repository, VARIABLES, "--http-restricted-api=statistics:key=secret");
    }

    private static URI uri(String path) {
        return URI.create(server.process().ready("vertex-ai.url") + path);
    }

    private static HttpRequest.Builder predict(String body) {
        return HttpRequest.newBuilder(uri(VARIABLES.get("AIP_PREDICT_ROUTE"))).POST(BodyPublishers.ofString(body));
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) {
        return http.send(request, BodyHandlers.ofString());
    }

    private static HttpResponse<String> redirected(String path, String body) {
        return send(predict(body).header("X-Vertex-Ai-Triton-Redirect", path));
    }

    @Test
    void shouldListenWhereVertexAiLooksAndNowhereElse() {
        assertThat(server.process().readyKeys()).contains("vertex-ai.port").doesNotContain("http.port", "grpc.port");
        assertThat(send(HttpRequest.newBuilder(uri("/health"))).statusCode()).isEqualTo(200);
        assertThat(send(HttpRequest.newBuilder(uri("/v2/health/ready"))).statusCode())
                .isEqualTo(400);
        HttpResponse<String> wrong = send(HttpRequest.newBuilder(uri(VARIABLES.get("AIP_PREDICT_ROUTE"))));
        assertThat(wrong.statusCode()).isEqualTo(405);
        assertThat(wrong.headers().firstValue("Allow")).hasValue("POST, OPTIONS");
        HttpResponse<String> head = send(HttpRequest.newBuilder(uri("/health")).HEAD());
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.body()).isEmpty();
    }

    @Test
    void shouldInferWithTheOnlyModelInJsonAndInBytes() {
        HttpResponse<String> json = send(predict(SimpleModel.json()).header("Content-Type", "application/json"));
        assertThat(json.body()).contains(SimpleModel.jsonData(SimpleModel.SUM));

        byte[] header = SimpleModel.binaryHeader().getBytes(UTF_8);
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes(header);
        body.writeBytes(SimpleModel.bytes(SimpleModel.LEFT));
        body.writeBytes(SimpleModel.bytes(SimpleModel.RIGHT));
        HttpResponse<byte[]> bytes = http.send(
                predict("")
                        .POST(BodyPublishers.ofByteArray(body.toByteArray()))
                        .header("Content-Type", BINARY + header.length)
                        .header("Inference-Header-Content-Length", "1"),
                BodyHandlers.ofByteArray());

        assertThat(bytes.statusCode()).isEqualTo(200);
        int length = Integer.parseInt(
                bytes.headers().firstValue("Inference-Header-Content-Length").orElseThrow());
        assertThat(bytes.body()).hasSize(length + 128);
        assertThat(bytes.body()).endsWith(SimpleModel.bytes(SimpleModel.DIFFERENCE));
    }

    @ParameterizedTest
    @CsvSource({
        "x/,1,expect MIME type for binary data starts with",
        "'',x1,'Unable to parse inference header size, got: x1'",
        "'',-123,'inference header size should be in range (0, 2), got: -123'",
        "'',12345,'inference header size should be in range (0, 2), got: 12345'",
        "'',99999999999,'Unable to parse inference header size, value is out of range, got: 99999999999'"
    })
    void shouldRefuseWrongLengths(String before, String length, String expected) {
        HttpResponse<String> response = send(predict("{}").header("Content-Type", before + BINARY + length));

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "v2, 200",
        "v2/health/live, 200",
        "v2/models/simple, 200",
        "v2/models/simple/versions/1/ready, 200",
        "v2/models/simple/config, 200",
        "v2/repository/index, 200",
        "v2/systemsharedmemory/status, 200",
        "v2/cudasharedmemory/status, 200",
        "metrics, 200",
        "v2/models/stats, 403",
        "v2/models/simple/load, 400",
        "v2/models/simple/generate, 400",
        "v2/logging, 400",
        "v2/trace/setting, 400",
        "../v2, 400",
        "v2/repository/models/simple/unload, 403",
        "v2/repository/models/simple/load, 403",
        "v2/systemsharedmemory/region/r/register, 403",
        "v2/cudasharedmemory/unregister, 403",
    })
    void shouldRedirectToWhatReadsAndNotToWhatChanges(String path, int status) {
        assertThat(redirected(path, "").statusCode()).isEqualTo(status);
    }

    @Test
    void shouldInferWithTheModelOfARedirection() {
        assertThat(redirected("v2/models/simple/infer", SimpleModel.json()).body())
                .contains(SimpleModel.jsonData(SimpleModel.SUM));
        assertThat(redirected("v2/models/absent/infer", SimpleModel.json()).statusCode())
                .isEqualTo(404);
    }

    @Test
    void shouldRestrictRedirectionsAsThePathsThemselves() {
        HttpResponse<String> allowed = send(predict("")
                .header("X-Vertex-Ai-Triton-Redirect", "v2/models/stats")
                .header("key", "secret"));

        assertThat(allowed.statusCode()).isEqualTo(200);
        assertThat(redirected("v2/models/stats", "").body()).contains("This API is restricted");
    }

    @Test
    void shouldNotStartWithoutItsPathsOrItsModel() {
        assertThat(failure(Map.of("AIP_HEALTH_ROUTE", "/health")))
                .contains("API_PREDICT_ROUTE is not defined for Vertex AI endpoint");
        assertThat(failure(Map.of("AIP_PREDICT_ROUTE", "/predict")))
                .contains("AIP_HEALTH_ROUTE is not defined for Vertex AI endpoint");
        assertThat(failure(
                        Map.of("AIP_HEALTH_ROUTE", "/health", "AIP_PREDICT_ROUTE", "/predict"),
                        "--vertex-ai-default-model=absent"))
                .contains("Expect the default model 'absent' is loaded");
    }

    private static String failure(Map<String, String> variables, String... flags) {
        List<String> arguments = new ArrayList<>(List.of(
                "serve",
                "--model-repository=" + repository,
                "--allow-vertex-ai",
                "--vertex-ai-port=0",
                "--allow-http=false",
                "--allow-grpc=false",
                "--allow-metrics=false"));
        arguments.addAll(List.of(flags));
        try (ServerProcess failing = ServerProcess.start(arguments, variables).expectErrors()) {
            assertThat(failing.awaitExit(Duration.ofSeconds(60))).isNotZero();
            return failing.log();
        }
    }
}
