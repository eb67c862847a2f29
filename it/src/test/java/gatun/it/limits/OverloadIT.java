// SPDX-License-Identifier: Apache-2.0
package gatun.it.limits;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ModelInferRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many more requests than a server with a small heap and a small pool can hold. */
@Timeout(180)
class OverloadIT {
    private static final int POOL_BYTES = 16 << 20;
    private static final int TENSOR_BYTES = 2 << 20;
    private static final int CLIENTS = 24;
    private static final int REQUESTS_EACH = 8;

    private static final String INPUT =
            "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"FP32\",\"shape\":[1," + TENSOR_BYTES / 4
                    + "],\"parameters\":{\"binary_data_size\":" + TENSOR_BYTES
                    + "}}],\"outputs\":[{\"name\":\"OUT\",\"parameters\":{\"binary_data\":true}}]}";

    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicLong slowestRefusalNanos = new AtomicLong();
    private final HttpClient http = HttpClient.newHttpClient();
    private ServerProcess server;

    @BeforeEach
    void start(@TempDir Path repository) throws IOException {
        Files.createDirectories(repository.resolve("slow/1"));
        Files.writeString(repository.resolve("slow/config.pbtxt"), """
                backend: "delay"
                max_batch_size: 1
                input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
                output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
                dynamic_batching { default_queue_policy { max_queue_size: 3 } }
                instance_group [ { count: 1 } ]
                parameters { key: "execute_delay_ms" value { string_value: "10" } }
                """);
        server = ServerProcess.start(
                List.of(
                        "serve",
                        "--model-repository=" + repository,
                        "--http-address=127.0.0.1",
                        "--http-port=0",
                        "--grpc-address=127.0.0.1",
                        "--grpc-port=0",
                        "--metrics-port=0",
                        "--buffer-pool-byte-size=" + POOL_BYTES),
                Map.of("GATUN_JAVA_OPTS", "-Xmx64m"));
        Await.until("the server", () -> {
            assertThat(server.handle().isAlive()).as("the server").isTrue();
            return server.readyFileExists();
        });
    }

    @AfterEach
    void stop() {
        http.close();
        server.close();
    }

    private HttpResponse<byte[]> overHttp() throws Exception {
        byte[] head = INPUT.getBytes(StandardCharsets.US_ASCII);
        HttpRequest request = HttpRequest.newBuilder(server.http("/v2/models/slow/infer"))
                .timeout(Duration.ofSeconds(60))
                .header("Inference-Header-Content-Length", Integer.toString(head.length))
                .POST(HttpRequest.BodyPublishers.concat(
                        HttpRequest.BodyPublishers.ofByteArray(head),
                        HttpRequest.BodyPublishers.ofByteArray(new byte[TENSOR_BYTES])))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofByteArray());
    }

    private void sendOverHttp() throws Exception {
        for (int i = 0; i < REQUESTS_EACH; i++) {
            long begun = System.nanoTime();
            HttpResponse<byte[]> response = overHttp();
            if (response.statusCode() == 200) {
                assertThat(response.body().length).isGreaterThan(TENSOR_BYTES);
                answered.incrementAndGet();
            } else {
                String text = new String(response.body(), StandardCharsets.UTF_8);
                assertThat(response.statusCode()).as(text).isEqualTo(503);
                // The last one is said to a client that a busy machine lets send too slowly.
                assertThat(text)
                        .containsAnyOf(
                                "Exceeds maximum queue size",
                                "the buffer pool has no",
                                "was sent too slowly while memory was short for others");
                refusedAfter(System.nanoTime() - begun);
            }
        }
    }

    private void refusedAfter(long nanos) {
        refused.incrementAndGet();
        slowestRefusalNanos.accumulateAndGet(nanos, Math::max);
    }

    private void sendOverGrpc(GrpcClient client) {
        ModelInferRequest request = ModelInferRequest.newBuilder()
                .setModelName("slow")
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName("IN")
                        .setDatatype("FP32")
                        .addShape(1)
                        .addShape(TENSOR_BYTES / 4))
                .addRawInputContents(ByteString.copyFrom(new byte[TENSOR_BYTES]))
                .build();
        for (int i = 0; i < REQUESTS_EACH; i++) {
            long begun = System.nanoTime();
            try {
                GRPCInferenceServiceGrpc.newBlockingStub(client.channel())
                        .withDeadlineAfter(60, TimeUnit.SECONDS)
                        .modelInfer(request);
                answered.incrementAndGet();
            } catch (StatusRuntimeException e) {
                assertThat(e.getStatus().getCode())
                        .as(e.getMessage())
                        .isIn(Status.Code.UNAVAILABLE, Status.Code.RESOURCE_EXHAUSTED);
                refusedAfter(System.nanoTime() - begun);
            }
        }
    }

    @Test
    void shouldRefuseWhatItCannotHoldAndThenWorkAsBefore() throws Exception {
        List<Future<?>> clients = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(
                        i % 3 == 0
                                ? threads.submit(() -> sendOverGrpc(grpc))
                                : threads.submit(() -> {
                                    sendOverHttp();
                                    return "";
                                }));
            }
            for (Future<?> client : clients) {
                client.get(150, TimeUnit.SECONDS);
            }
        }
        assertThat(answered.get() + refused.get()).isEqualTo(CLIENTS * REQUESTS_EACH);
        assertThat(answered.get()).as("answered").isPositive();
        assertThat(refused.get()).as("refused").isPositive();
        assertThat(Duration.ofNanos(slowestRefusalNanos.get()))
                .as("the slowest refusal, of megabytes that were sent beside those of all the others")
                .isLessThan(Duration.ofSeconds(10));

        for (int i = 0; i < 5; i++) {
            assertThat(overHttp().statusCode()).as("afterwards").isEqualTo(200);
        }
        awaitMetric("gatun_buffer_pool_used_bytes 0\n");
        awaitMetric("nv_inference_pending_request_count{model=\"slow\",version=\"1\"} 0\n");
        assertThat(server.log()).doesNotContain("OutOfMemoryError");
    }

    private void awaitMetric(String line) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(server.metrics())
                .timeout(Duration.ofSeconds(20))
                .build();
        Await.until(line, () -> http.send(request, HttpResponse.BodyHandlers.ofString())
                .body()
                .contains(line));
    }
}
