// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.ListenableFuture;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.it.harness.StreamClient;
import gatun.testing.Await;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.InferBatchStatistics;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelStatistics;
import gatun.wire.inference.ModelStatisticsRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The model {@code simple} with queues of several kinds, in the real server. An instance that waits for a batch waits
 * for a minute.
 */
@Timeout(120)
class BatchingIT {
    @TempDir
    static Path repository;

    @AutoClose
    private static ServerProcess server;

    @AutoClose
    private static GrpcClient grpc;

    @AutoClose
    private static HttpClient http;

    @BeforeAll
    static void start() throws Exception {
        model("patient", "");
        model("hurried", "default_timeout_microseconds: 300000 allow_timeout_override: true");
        model("small", "max_queue_size: 2 default_timeout_microseconds: 3000000");
        model("given_up", "");
        server = ServerProcess.launch(repository);
        grpc = GrpcClient.tcp(server.grpcPort());
        http = HttpClient.newHttpClient();
    }

    private static void model(String name, String queuePolicy) throws IOException {
        Path simple = ServerProcess.exampleModels().resolve("simple");
        Path version = Files.createDirectories(repository.resolve(name).resolve("1"));
        Files.copy(simple.resolve("1/model.onnx"), version.resolve("model.onnx"));
        String config = Files.readString(simple.resolve("config.pbtxt")).replace("name: \"simple\"", "");
        String batching = "dynamic_batching { preferred_batch_size: [ 4 ] max_queue_delay_microseconds: 60000000"
                + " default_queue_policy { " + queuePolicy + " } }";
        Files.writeString(repository.resolve(name).resolve("config.pbtxt"), config + batching);
    }

    private static ModelInferRequest request(String model) {
        return SimpleModel.grpc().toBuilder().setModelName(model).build();
    }

    private static ListenableFuture<ModelInferResponse> send(String model) {
        return GRPCInferenceServiceGrpc.newFutureStub(grpc.channel()).modelInfer(request(model));
    }

    private static ModelStatistics statistics(String model) {
        return grpc.service()
                .modelStatistics(
                        ModelStatisticsRequest.newBuilder().setName(model).build())
                .getModelStats(0);
    }

    private static void awaitWaiting(String model, int count) throws Exception {
        String line = "nv_inference_pending_request_count{model=\"" + model + "\",version=\"1\"} " + count + "\n";
        Await.until(line, () -> metrics().contains(line));
    }

    private static String metrics() throws Exception {
        return http.send(
                        HttpRequest.newBuilder(server.metrics())
                                .timeout(Duration.ofSeconds(20))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    @Test
    void shouldRunRequestsOfSeveralClientsAndProtocolsAsOneBatch() throws Exception {
        List<ListenableFuture<ModelInferResponse>> responses = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            responses.add(send("patient"));
            awaitWaiting("patient", i + 1);
        }
        CompletableFuture<HttpResponse<byte[]>> overHttp = http.sendAsync(
                SimpleModel.binary(server.http("/v2/models/patient/infer")).build(),
                HttpResponse.BodyHandlers.ofByteArray());

        for (ListenableFuture<ModelInferResponse> answer : responses) {
            ModelInferResponse response = answer.get(20, TimeUnit.SECONDS);
            assertThat(SimpleModel.values(response.getRawOutputContents(0).asReadOnlyByteBuffer()))
                    .isEqualTo(SimpleModel.SUM);
            assertThat(SimpleModel.values(response.getRawOutputContents(1).asReadOnlyByteBuffer()))
                    .isEqualTo(SimpleModel.DIFFERENCE);
        }
        assertThat(overHttp.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
        ModelStatistics counted = statistics("patient");
        assertThat(counted.getExecutionCount()).isEqualTo(1);
        assertThat(counted.getInferenceCount()).isEqualTo(4);
        assertThat(counted.getBatchStatsList())
                .extracting(InferBatchStatistics::getBatchSize)
                .containsExactly(4L);
    }

    @Test
    void shouldRefuseARequestThatWaitsTooLong() {
        long begin = System.nanoTime();
        assertThatThrownBy(() -> grpc.service().modelInfer(request("hurried")))
                .isInstanceOfSatisfying(StatusRuntimeException.class, e -> {
                    assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                    assertThat(e.getStatus().getDescription()).isEqualTo("Request timeout expired");
                });
        assertThat(System.nanoTime() - begin).isBetween(300_000_000L, 20_000_000_000L);
    }

    @Test
    void shouldRefuseAtOnceWhatTheQueueCannotHold() throws Exception {
        ListenableFuture<ModelInferResponse> first = send("small");
        awaitWaiting("small", 1);
        ListenableFuture<ModelInferResponse> second = send("small");
        awaitWaiting("small", 2);
        HttpResponse<String> refused = http.send(
                SimpleModel.binary(server.http("/v2/models/small/infer"))
                        .timeout(Duration.ofSeconds(20))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.body()).contains("Exceeds maximum queue size");

        for (ListenableFuture<ModelInferResponse> waiting : List.of(first, second)) {
            assertThatThrownBy(() -> waiting.get(20, TimeUnit.SECONDS))
                    .hasMessageContaining("UNAVAILABLE: Request timeout expired");
        }
        awaitWaiting("small", 0);
        assertThat(metrics())
                .contains("nv_inference_request_failure{model=\"small\",reason=\"REJECTED\",version=\"1\"} 3\n");
    }

    @Test
    void shouldForgetWhatClientsGiveUp() throws Exception {
        ListenableFuture<ModelInferResponse> cancelled = send("given_up");
        awaitWaiting("given_up", 1);
        GrpcClient leaving = GrpcClient.tcp(server.grpcPort());
        ListenableFuture<ModelInferResponse> disconnected =
                GRPCInferenceServiceGrpc.newFutureStub(leaving.channel()).modelInfer(request("given_up"));
        awaitWaiting("given_up", 2);
        StreamClient stream = StreamClient.open(grpc);
        stream.send(request("given_up"));
        awaitWaiting("given_up", 3);

        assertThat(cancelled.cancel(true)).isTrue();
        awaitWaiting("given_up", 2);
        leaving.close();
        awaitWaiting("given_up", 1);
        stream.cancel();
        awaitWaiting("given_up", 0);

        assertThatThrownBy(() -> disconnected.get(20, TimeUnit.SECONDS)).hasMessageContaining("UNAVAILABLE");
        assertThat(stream.end().getCode()).isEqualTo(Status.Code.CANCELLED);
        assertThat(metrics())
                .contains("nv_inference_request_failure{model=\"given_up\",reason=\"CANCELED\",version=\"1\"} 3\n");
    }
}
