// SPDX-License-Identifier: Apache-2.0
package gatun.it.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.RawHttp;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ServerLiveRequest;
import gatun.wire.inference.ServerReadyRequest;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks the promises of the README with the program that it starts: one server, and every way to reach it. */
class QuickStartIT {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    @TempDir
    static Path folder;

    private static ServerProcess server;
    private static HttpClient client;

    @BeforeAll
    static void start() throws Exception {
        server = ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--allow-client-shm",
                "--http-unix-socket=" + folder.resolve("http.sock"),
                "--grpc-unix-socket=" + folder.resolve("grpc.sock"));
        client = HttpClient.newHttpClient();
    }

    @AfterAll
    static void stop() throws Exception {
        client.close();
        server.close();
        assertThat(folder).isEmptyDirectory();
    }

    private static HttpResponse<String> get(URI uri) throws Exception {
        return client.send(HttpRequest.newBuilder(uri).timeout(LIMIT).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static HttpResponse<String> post(String path, String body) throws Exception {
        return client.send(
                HttpRequest.newBuilder(server.http(path))
                        .timeout(LIMIT)
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static void assertSimple(ModelInferResponse response) {
        assertThat(response.getModelName()).isEqualTo("simple");
        assertThat(response.getOutputsList())
                .extracting(ModelInferResponse.InferOutputTensor::getName)
                .containsExactly("OUTPUT0", "OUTPUT1");
        assertThat(SimpleModel.values(response.getRawOutputContents(0).asReadOnlyByteBuffer()))
                .isEqualTo(SimpleModel.SUM);
        assertThat(SimpleModel.values(response.getRawOutputContents(1).asReadOnlyByteBuffer()))
                .isEqualTo(SimpleModel.DIFFERENCE);
    }

    @Test
    void shouldPrintOneTableAndTheUrls() {
        assertThat(server.output())
                .containsPattern("\\| Model +\\| Version +\\| Engine +\\| State +\\| Load time +\\|")
                .containsPattern("\\| digits +\\| 1 +\\| onnxruntime +\\| ready +\\| +[0-9.]+ m?s \\|")
                .containsPattern("\\| identity_fp32 +\\| 1 +\\| identity +\\| ready +\\|")
                .containsPattern("\\| simple +\\| 1 +\\| onnxruntime +\\| ready +\\|")
                .containsPattern("\\| simple_identity +\\| 1 +\\| identity +\\| ready +\\|")
                .containsPattern("\\| simple_string +\\| 1 +\\| onnxruntime +\\| ready +\\|")
                .contains("HTTP     " + server.ready("http.url"))
                .contains("gRPC     127.0.0.1:" + server.grpcPort())
                .contains("Metrics  " + server.metrics())
                .contains("unix:" + folder.resolve("http.sock"), "unix:" + folder.resolve("grpc.sock"));
    }

    @Test
    void shouldBeLiveAndReadyOverHttp() throws Exception {
        assertThat(get(server.http("/v2/health/live")).statusCode()).isEqualTo(200);
        assertThat(get(server.http("/v2/health/ready")).statusCode()).isEqualTo(200);
        assertThat(get(server.http("/v2/models/digits/ready")).statusCode()).isEqualTo(200);
        assertThat(get(server.http("/v2/models/nothing/ready")).statusCode()).isNotEqualTo(200);
    }

    @Test
    void shouldBeLiveAndReadyOverGrpc() throws Exception {
        try (GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            assertThat(grpc.service()
                            .serverLive(ServerLiveRequest.getDefaultInstance())
                            .getLive())
                    .isTrue();
            assertThat(grpc.service()
                            .serverReady(ServerReadyRequest.getDefaultInstance())
                            .getReady())
                    .isTrue();
            assertThat(HealthGrpc.newBlockingStub(grpc.channel())
                            .withDeadlineAfter(LIMIT.toSeconds(), TimeUnit.SECONDS)
                            .check(HealthCheckRequest.getDefaultInstance())
                            .getStatus())
                    .isEqualTo(ServingStatus.SERVING);
        }
    }

    @Test
    void shouldInferOverHttpWithJson() throws Exception {
        HttpResponse<String> response = post("/v2/models/simple/infer", SimpleModel.json());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.body())
                .contains(SimpleModel.jsonData(SimpleModel.SUM), SimpleModel.jsonData(SimpleModel.DIFFERENCE));
    }

    @Test
    void shouldInferOverHttpWithBinaryTensors() throws Exception {
        HttpResponse<byte[]> response = client.send(
                SimpleModel.binary(server.http("/v2/models/simple/infer"))
                        .timeout(LIMIT)
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());
        assertThat(response.statusCode()).isEqualTo(200);
        int json = Integer.parseInt(
                response.headers().firstValue("Inference-Header-Content-Length").orElseThrow());
        assertThat(response.body()).hasSize(json + 128);
        assertThat(SimpleModel.values(ByteBuffer.wrap(response.body(), json, 64)))
                .isEqualTo(SimpleModel.SUM);
        assertThat(SimpleModel.values(ByteBuffer.wrap(response.body(), json + 64, 64)))
                .isEqualTo(SimpleModel.DIFFERENCE);
    }

    @Test
    void shouldInferOverGrpc() throws Exception {
        try (GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            assertSimple(grpc.service().modelInfer(SimpleModel.grpc()));
            assertSimple(grpc.service().modelInfer(SimpleModel.grpcTyped()));
        }
    }

    @Test
    void shouldInferOverUnixSockets() throws Exception {
        String json = SimpleModel.json();
        try (RawHttp http = RawHttp.connect(UnixDomainSocketAddress.of(server.ready("http.unix-socket")))) {
            http.send("POST /v2/models/simple/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + json.length()
                    + "\r\n\r\n" + json);
            assertThat(new String(http.readBody("HTTP/1.1 200"), StandardCharsets.UTF_8))
                    .contains(SimpleModel.jsonData(SimpleModel.SUM));
        }
        try (GrpcClient grpc = GrpcClient.unix(Path.of(server.ready("grpc.unix-socket")))) {
            assertSimple(grpc.service().modelInfer(SimpleModel.grpc()));
        }
    }

    @Test
    void shouldReadAndWriteTensorsInSharedMemory() throws Exception {
        Path object =
                SHARED_MEMORY.resolve("gatun-quick-start-" + server.handle().pid());
        try {
            ByteBuffer bytes = ByteBuffer.allocate(256);
            bytes.put(SimpleModel.bytes(SimpleModel.LEFT)).put(SimpleModel.bytes(SimpleModel.RIGHT));
            Files.write(object, bytes.array());
            assertThat(post(
                                    "/v2/systemsharedmemory/region/quick/register",
                                    "{\"key\": \"/" + object.getFileName() + "\", \"offset\": 0, \"byte_size\": 256}")
                            .statusCode())
                    .isEqualTo(200);
            HttpResponse<String> response = post("/v2/models/simple/infer", """
                    {"inputs": [
                      {"name": "INPUT0", "datatype": "INT32", "shape": [1, 16],
                       "parameters": {"shared_memory_region": "quick", "shared_memory_byte_size": 64}},
                      {"name": "INPUT1", "datatype": "INT32", "shape": [1, 16],
                       "parameters": {"shared_memory_region": "quick", "shared_memory_byte_size": 64,
                                      "shared_memory_offset": 64}}],
                     "outputs": [
                      {"name": "OUTPUT0",
                       "parameters": {"shared_memory_region": "quick", "shared_memory_byte_size": 64,
                                      "shared_memory_offset": 128}},
                      {"name": "OUTPUT1",
                       "parameters": {"shared_memory_region": "quick", "shared_memory_byte_size": 64,
                                      "shared_memory_offset": 192}}]}""");
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            assertThat(response.body()).doesNotContain("\"data\"");
            assertThat(post("/v2/systemsharedmemory/region/quick/unregister", "")
                            .statusCode())
                    .isEqualTo(200);
            byte[] written = Files.readAllBytes(object);
            assertThat(SimpleModel.values(ByteBuffer.wrap(written, 128, 64))).isEqualTo(SimpleModel.SUM);
            assertThat(SimpleModel.values(ByteBuffer.wrap(written, 192, 64))).isEqualTo(SimpleModel.DIFFERENCE);
        } finally {
            Files.deleteIfExists(object);
        }
    }

    @Test
    void shouldCountWhatItAnswered() throws Exception {
        assertThat(post("/v2/models/simple/infer", SimpleModel.json()).statusCode())
                .isEqualTo(200);
        HttpResponse<String> metrics = get(server.metrics());
        assertThat(metrics.statusCode()).isEqualTo(200);
        assertThat(metrics.body())
                .containsPattern("(?m)^nv_inference_request_success\\{model=\"simple\",version=\"1\"\\} [1-9]");
    }

    @Test
    void shouldAnswerAWrongRequestAndTheNextOne() throws Exception {
        HttpResponse<String> wrong = post("/v2/models/simple/infer", "{\"inputs\": [");
        assertThat(wrong.statusCode()).isEqualTo(400);
        assertThat(wrong.body()).startsWith("{\"error\":");
        assertThat(post("/v2/models/simple/infer", SimpleModel.json()).statusCode())
                .isEqualTo(200);
    }
}
