// SPDX-License-Identifier: Apache-2.0
package gatun.it.v2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.testing.Await;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferRequest.InferInputTensor;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelStatistics;
import gatun.wire.inference.ModelStatisticsRequest;
import gatun.wire.inference.ModelStreamInferResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The example model {@code repeat_int32} in the real server.process(), over streams, and refused where there are none; and one
 * like it that answers with one element in each run, so that requests take turns.
 */
@Timeout(120)
class DecoupledIT {
    private static final String REPEAT = "repeat_int32";
    private static final String IN_TURNS = "in_turns";

    @TempDir
    static Path repository;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(DecoupledIT::start);

    private static final GrpcClient grpc = server.grpc();

    private static ServerProcess start() throws Exception {
        String config =
                Files.readString(ServerProcess.exampleModels().resolve(REPEAT).resolve("config.pbtxt"));
        add(REPEAT, config);
        add(
                IN_TURNS,
                config.replace(REPEAT, IN_TURNS)
                        + "sequence_batching { iterative_sequence: true oldest { max_candidate_sequences: 4 } }\n");
        return ServerProcess.launch(repository);
    }

    private static void add(String model, String config) throws IOException {
        Files.createDirectories(repository.resolve(model).resolve("1"));
        Files.writeString(repository.resolve(model).resolve("config.pbtxt"), config);
    }

    private static final class Responses implements StreamObserver<ModelStreamInferResponse> {
        private final BlockingQueue<ModelStreamInferResponse> received = new LinkedBlockingQueue<>();
        private final CompletableFuture<Status> end = new CompletableFuture<>();

        @Override
        public void onNext(ModelStreamInferResponse response) {
            received.add(response);
        }

        @Override
        public void onError(Throwable failure) {
            end.complete(Status.fromThrowable(failure));
        }

        @Override
        public void onCompleted() {
            end.complete(Status.OK);
        }

        ModelInferResponse next() throws InterruptedException {
            ModelStreamInferResponse response = received.poll(20, TimeUnit.SECONDS);
            assertThat(response).as("an answer within 20 s").isNotNull();
            assertThat(response.getErrorMessage()).isEmpty();
            return response.getInferResponse();
        }
    }

    private static ModelInferRequest request(String id, int delayMillis, int... elements) {
        int[] delays = new int[elements.length];
        Arrays.fill(delays, delayMillis);
        return ModelInferRequest.newBuilder()
                .setModelName(REPEAT)
                .setId(id)
                .addInputs(tensor("IN", "INT32", elements.length))
                .addInputs(tensor("DELAY", "UINT32", elements.length))
                .addInputs(tensor("WAIT", "UINT32", 1))
                .addRawInputContents(bytes(elements))
                .addRawInputContents(bytes(delays))
                .addRawInputContents(bytes(0))
                .build();
    }

    private static InferInputTensor tensor(String name, String datatype, int count) {
        return InferInputTensor.newBuilder()
                .setName(name)
                .setDatatype(datatype)
                .addShape(count)
                .build();
    }

    private static ByteString bytes(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(values);
        return ByteString.copyFrom(bytes);
    }

    private static int output(ModelInferResponse response, String name) {
        for (int i = 0; i < response.getOutputsCount(); i++) {
            if (response.getOutputs(i).getName().equals(name)) {
                return response.getRawOutputContents(i)
                        .asReadOnlyByteBuffer()
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .getInt();
            }
        }
        throw new AssertionError("the response has no output " + name);
    }

    private static ModelStatistics statistics(String model) {
        return grpc.service()
                .modelStatistics(
                        ModelStatisticsRequest.newBuilder().setName(model).build())
                .getModelStats(0);
    }

    @Test
    void shouldStreamAResponseForEachElementAndAnEmptyLastOne() throws Exception {
        Responses responses = new Responses();
        StreamObserver<ModelInferRequest> requests =
                GRPCInferenceServiceGrpc.newStub(grpc.channel()).modelStreamInfer(responses);
        requests.onNext(request("r", 1, 40, 50, 60).toBuilder()
                .putParameters(
                        "triton_enable_empty_final_response",
                        InferParameter.newBuilder().setBoolParam(true).build())
                .build());
        requests.onCompleted();

        for (int i = 0; i < 3; i++) {
            ModelInferResponse response = responses.next();
            assertThat(response.getId()).isEqualTo("r");
            assertThat(output(response, "OUT")).isEqualTo(40 + 10 * i);
            assertThat(output(response, "IDX")).isEqualTo(i);
            assertThat(response.getParametersOrThrow("triton_final_response").getBoolParam())
                    .isFalse();
        }
        ModelInferResponse end = responses.next();
        assertThat(end.getOutputsCount()).isZero();
        assertThat(end.getModelVersion()).isEqualTo("1");
        assertThat(end.getParametersOrThrow("triton_final_response").getBoolParam())
                .isTrue();
        assertThat(responses.end.get(20, TimeUnit.SECONDS).isOk()).isTrue();
        assertThat(responses.received).isEmpty();
    }

    @Test
    void shouldRunSeveralRequestsOfOneStreamEachInItsOrder() throws Exception {
        Responses responses = new Responses();
        StreamObserver<ModelInferRequest> requests =
                GRPCInferenceServiceGrpc.newStub(grpc.channel()).modelStreamInfer(responses);
        for (int i = 0; i < 8; i++) {
            requests.onNext(request("r" + i, 0, i, i, i, i, i));
        }
        requests.onCompleted();
        assertThat(responses.end.get(60, TimeUnit.SECONDS).isOk()).isTrue();
        List<ModelInferResponse> all = new ArrayList<>();
        responses.received.forEach(answer -> all.add(answer.getInferResponse()));
        assertThat(all).hasSize(40);
        for (int i = 0; i < 8; i++) {
            String id = "r" + i;
            assertThat(all.stream()
                            .filter(response -> response.getId().equals(id))
                            .map(response -> output(response, "IDX")))
                    .as(id)
                    .containsExactly(0, 1, 2, 3, 4);
        }
    }

    @Test
    void shouldStopTheRunOfAClientThatCancels() throws Exception {
        long failedBefore = statistics(REPEAT).getInferenceStats().getFail().getCount();
        Responses responses = new Responses();
        StreamObserver<ModelInferRequest> requests =
                GRPCInferenceServiceGrpc.newStub(grpc.channel()).modelStreamInfer(responses);
        requests.onNext(request("endless", 0, 1).toBuilder()
                .setInputs(0, tensor("IN", "INT32", 2))
                .setInputs(1, tensor("DELAY", "UINT32", 2))
                .setRawInputContents(0, bytes(1, 2))
                .setRawInputContents(1, bytes(0, 3_000_000))
                .build());
        assertThat(output(responses.next(), "IDX")).isZero();
        requests.onError(Status.CANCELLED.asRuntimeException());
        Await.until(
                "the end of the run",
                () -> statistics(REPEAT).getInferenceStats().getFail().getCount() != failedBefore);
    }

    @Test
    void shouldLetRequestsTakeTurnsAndEndOneThatIsCancelledBetweenItsRuns() throws Exception {
        int[] many = new int[5000];
        Responses first = new Responses();
        StreamObserver<ModelInferRequest> endless =
                GRPCInferenceServiceGrpc.newStub(grpc.channel()).modelStreamInfer(first);
        endless.onNext(
                request("endless", 5, many).toBuilder().setModelName(IN_TURNS).build());
        assertThat(output(first.next(), "IDX")).isZero();

        Responses second = new Responses();
        StreamObserver<ModelInferRequest> few =
                GRPCInferenceServiceGrpc.newStub(grpc.channel()).modelStreamInfer(second);
        few.onNext(request("few", 0, 7, 8, 9).toBuilder().setModelName(IN_TURNS).build());
        few.onCompleted();
        for (int i = 0; i < 3; i++) {
            ModelInferResponse response = second.next();
            assertThat(output(response, "OUT")).isEqualTo(7 + i);
            assertThat(output(response, "IDX")).isEqualTo(i);
        }
        assertThat(second.end.get(20, TimeUnit.SECONDS).isOk()).isTrue();
        assertThat(first.end).as("the end of the other request").isNotDone();
        for (int i = 1; i < 4; i++) {
            assertThat(output(first.next(), "IDX")).isEqualTo(i);
        }

        endless.onError(Status.CANCELLED.asRuntimeException());
        Await.until(
                "the end of the request",
                () -> statistics(IN_TURNS).getInferenceStats().getFail().getCount() != 0);
        ModelStatistics statistics = statistics(IN_TURNS);
        assertThat(statistics.getInferenceStats().getSuccess().getCount()).isEqualTo(1);
        assertThat(statistics.getExecutionCount()).as("runs").isGreaterThan(6);
    }

    @Test
    void shouldRefuseItWhereThereIsNoStream() throws Exception {
        assertThatThrownBy(() -> grpc.service().modelInfer(request("r", 0, 1)))
                .isInstanceOfSatisfying(StatusRuntimeException.class, e -> {
                    assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
                    assertThat(e.getStatus().getDescription())
                            .isEqualTo("ModelInfer RPC doesn't support models with decoupled transaction policy");
                });
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<String> refused = http.send(
                    HttpRequest.newBuilder(server.http("/v2/models/repeat_int32/infer"))
                            .timeout(Duration.ofSeconds(20))
                            .POST(HttpRequest.BodyPublishers.ofString("{\"inputs\":[]}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(refused.statusCode()).isEqualTo(501);
            assertThat(refused.body())
                    .contains("HTTP end point doesn't support models with decoupled transaction policy");
        }
    }
}
