// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import gatun.testing.OnnxFile;
import gatun.wire.inference.ServerLiveRequest;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Health is answered while other clients' requests keep every core and every engine busy. Only the order counts:
 * responses about health come before those requests end. How long they took is printed.
 */
@Timeout(120)
class HealthIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** More than there are carrier threads on a small machine. */
    private static final int INSTANCES = 4;

    /** The number of requests that wait for an instance while all instances run. */
    private static final int WAITING = 2;

    private static final int SHORT_RUNS = 64;

    /** A run over a matrix of one number takes a fraction of a millisecond, one over a large matrix many seconds. */
    private static final int PRODUCTS = 200;

    private static final int LARGE = 1024;
    private static final int LONG_FLOATS = 3 << 20;

    @AutoClose
    private static ServerProcess server;

    @BeforeAll
    static void start(@TempDir Path repository) throws Exception {
        OnnxFile.writeProducts(
                repository.resolve("products/1"),
                new OnnxFile.Value("X", OnnxFile.FLOAT, "n", "n"),
                new OnnxFile.Value("Y", OnnxFile.FLOAT, "n", "n"),
                PRODUCTS);
        Files.writeString(repository.resolve("products/config.pbtxt"), """
                backend: "onnxruntime"
                input [ { name: "X" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
                output [ { name: "Y" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
                instance_group [ { count: %d } ]
                """.formatted(INSTANCES));
        Files.createDirectories(repository.resolve("floats/1"));
        Files.writeString(repository.resolve("floats/config.pbtxt"), """
                backend: "identity"
                max_batch_size: 0
                input [ { name: "X" data_type: TYPE_FP32 dims: [ -1 ] } ]
                output [ { name: "Y" data_type: TYPE_FP32 dims: [ -1 ] } ]
                """);
        server = ServerProcess.launch(repository);
    }

    /** A request with one tensor in binary form, which leaves the form of the response to the server. */
    private static HttpRequest.Builder infer(String model, String shape, byte[] tensor, String parameters) {
        String json = "{\"inputs\":[{\"name\":\"X\",\"datatype\":\"FP32\",\"shape\":[" + shape
                + "],\"parameters\":{\"binary_data_size\":" + tensor.length + "}}]" + parameters + "}";
        return HttpRequest.newBuilder(server.http("/v2/models/" + model + "/infer"))
                .timeout(LIMIT)
                .header("Inference-Header-Content-Length", Integer.toString(json.length()))
                .POST(HttpRequest.BodyPublishers.concat(
                        HttpRequest.BodyPublishers.ofString(json), HttpRequest.BodyPublishers.ofByteArray(tensor)));
    }

    private static byte[] randomFloats(int count) {
        Random random = new Random(18);
        ByteBuffer bytes = ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            bytes.putFloat(random.nextFloat());
        }
        return bytes.array();
    }

    private static List<CompletableFuture<HttpResponse<Void>>> sendAll(
            HttpClient client, HttpRequest request, int count) {
        List<CompletableFuture<HttpResponse<Void>>> responses = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            responses.add(client.sendAsync(request, HttpResponse.BodyHandlers.discarding()));
        }
        return responses;
    }

    /** Waits until the number behind {@code line} in the metrics is at least {@code least}. */
    private static void awaitMetric(HttpApi http, String line, double least) {
        Await.until("%s %s".formatted(line, least), () -> http.metric(line) >= least);
    }

    /** Asks about health over both protocols. */
    private static void assertLive(HttpApi http, GrpcClient grpc) {
        assertThat(http.get("/v2/health/live").statusCode()).isEqualTo(200);
        assertThat(grpc.service()
                        .serverLive(ServerLiveRequest.getDefaultInstance())
                        .getLive())
                .isTrue();
    }

    /** Asks about health several times; none of {@code others} may have been answered by then. */
    private static void assertHealthComesFirst(
            HttpApi http, GrpcClient grpc, String meanwhile, List<CompletableFuture<HttpResponse<Void>>> others) {
        long longest = 0;
        for (int i = 0; i < 5; i++) {
            long begin = System.nanoTime();
            assertLive(http, grpc);
            longest = Math.max(longest, System.nanoTime() - begin);
        }
        assertThat(others).as("what came before health, during " + meanwhile).noneMatch(CompletableFuture::isDone);
        System.out.printf("Health over HTTP and gRPC took at most %d us in all during %s%n", longest / 1000, meanwhile);
    }

    @Test
    void shouldBeAnsweredWhileRunsThatWereShortAreLong() throws Exception {
        try (HttpApi http = new HttpApi(server);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort());
                HttpClient client = HttpClient.newHttpClient()) {
            assertLive(http, grpc);
            HttpRequest oneNumber =
                    infer("products", "1,1", new byte[Float.BYTES], "").build();
            for (int i = 0; i < SHORT_RUNS; i++) {
                assertThat(client.send(oneNumber, HttpResponse.BodyHandlers.discarding())
                                .statusCode())
                        .isEqualTo(200);
            }
            HttpRequest large = infer("products", LARGE + "," + LARGE, new byte[LARGE * LARGE * Float.BYTES], "")
                    .build();
            List<CompletableFuture<HttpResponse<Void>>> responses = sendAll(client, large, INSTANCES + WAITING);
            awaitMetric(http, "nv_inference_pending_request_count{model=\"products\"", WAITING);
            assertHealthComesFirst(http, grpc, "long runs", responses);
            client.shutdownNow();
        }
    }

    @Test
    void shouldBeAnsweredWhileLongAnswersAreCompressed() throws Exception {
        try (HttpApi http = new HttpApi(server);
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort());
                HttpClient client = HttpClient.newHttpClient()) {
            assertLive(http, grpc);
            byte[] tensor = randomFloats(LONG_FLOATS);
            HttpRequest binary = infer(
                            "floats",
                            Integer.toString(LONG_FLOATS),
                            tensor,
                            ",\"parameters\":{\"binary_data_output\":true}")
                    .header("Accept-Encoding", "gzip")
                    .build();
            List<CompletableFuture<HttpResponse<Void>>> responses = sendAll(client, binary, INSTANCES);
            awaitMetric(http, "nv_inference_request_success{model=\"floats\"", INSTANCES);
            assertHealthComesFirst(http, grpc, "the compression of long answers", responses);
            for (CompletableFuture<HttpResponse<Void>> response : responses) {
                assertThat(response.get(LIMIT.toSeconds(), TimeUnit.SECONDS).statusCode())
                        .isEqualTo(200);
            }
        }
    }
}
