// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.StreamClient;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
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
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Sequences of several clients and protocols in the real server: each request is answered with the sum of its sequence
 * so far.
 */
@Timeout(120)
class SequenceIT {
    private static final String DIRECT = "running_sum";
    private static final String OLDEST = "oldest_sequence";
    private static final String ENSEMBLE = "summed";

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
        Path example = ServerProcess.exampleModels().resolve(DIRECT);
        String config = Files.readString(example.resolve("config.pbtxt"));
        for (String model : List.of(DIRECT, OLDEST)) {
            Path version = Files.createDirectories(repository.resolve(model).resolve("1"));
            Files.copy(example.resolve("1/model.onnx"), version.resolve("model.onnx"));
        }
        Files.writeString(repository.resolve(DIRECT).resolve("config.pbtxt"), config);
        String oldest = config.replace(DIRECT, OLDEST).replace("direct { }", "oldest { max_candidate_sequences: 4 }");
        assertThat(oldest).contains("oldest {");
        Files.writeString(repository.resolve(OLDEST).resolve("config.pbtxt"), oldest);
        addEnsemble();
        server = ServerProcess.launch(repository);
        grpc = GrpcClient.tcp(server.grpcPort());
        http = HttpClient.newHttpClient();
    }

    /** Has each value pass a model without sequences before it is summed. */
    private static void addEnsemble() throws IOException {
        String tensors = """
                max_batch_size: 8
                input [ { name: "INPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
                output [ { name: "OUTPUT" data_type: TYPE_INT32 dims: [ 1 ] } ]
                """;
        add("passed", "backend: \"identity\"\n" + tensors);
        add(ENSEMBLE, tensors + """
                platform: "ensemble"
                ensemble_scheduling { step [
                    { model_name: "passed" model_version: -1
                      input_map { key: "INPUT" value: "INPUT" } output_map { key: "OUTPUT" value: "passed" } },
                    { model_name: "%s" model_version: -1
                      input_map { key: "INPUT" value: "passed" } output_map { key: "OUTPUT" value: "OUTPUT" } } ] }
                """.formatted(DIRECT));
    }

    private static void add(String model, String config) throws IOException {
        Files.createDirectories(repository.resolve(model).resolve("1"));
        Files.writeString(repository.resolve(model).resolve("config.pbtxt"), config);
    }

    /** The response over HTTP to a step with the value {@code value}. */
    private static HttpResponse<String> post(String model, String sequence, int value, boolean start, boolean end)
            throws Exception {
        String body = "{\"parameters\":{\"sequence_id\":" + sequence + ",\"sequence_start\":" + start
                + ",\"sequence_end\":" + end
                + "},\"inputs\":[{\"name\":\"INPUT\",\"datatype\":\"INT32\",\"shape\":[1,1],"
                + "\"data\":[" + value + "]}]}";
        return http.send(
                HttpRequest.newBuilder(server.http("/v2/models/" + model + "/infer"))
                        .timeout(Duration.ofSeconds(20))
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static ModelInferRequest step(
            String model, InferParameter sequence, int value, boolean start, boolean end) {
        return ModelInferRequest.newBuilder()
                .setModelName(model)
                .putParameters("sequence_id", sequence)
                .putParameters("sequence_start", flag(start))
                .putParameters("sequence_end", flag(end))
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName("INPUT")
                        .setDatatype("INT32")
                        .addShape(1)
                        .addShape(1))
                .addRawInputContents(ByteString.copyFrom(ByteBuffer.allocate(Integer.BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putInt(0, value)))
                .build();
    }

    private static InferParameter flag(boolean value) {
        return InferParameter.newBuilder().setBoolParam(value).build();
    }

    private static InferParameter number(long id) {
        return InferParameter.newBuilder().setInt64Param(id).build();
    }

    private static InferParameter text(String id) {
        return InferParameter.newBuilder().setStringParam(id).build();
    }

    private static int sum(ModelInferResponse response) {
        return response.getRawOutputContents(0)
                .asReadOnlyByteBuffer()
                .order(ByteOrder.LITTLE_ENDIAN)
                .getInt();
    }

    @Test
    void shouldKeepTheSumOfASequenceOverHttpAndGrpc() throws Exception {
        assertThat(post(DIRECT, "1001", 1, true, false).body()).contains("\"data\":[1]");
        assertThat(post(DIRECT, "\"1001\"", 100, true, false).body())
                .as("a text is not the number")
                .contains("\"data\":[100]");
        assertThat(sum(grpc.service().modelInfer(step(DIRECT, number(1001), 2, false, false))))
                .isEqualTo(3);
        assertThat(sum(grpc.service().modelInfer(step(DIRECT, text("1001"), 200, false, true))))
                .isEqualTo(300);
        assertThat(post(DIRECT, "1001", 3, false, true).body()).contains("\"data\":[6]");
    }

    @Test
    void shouldRefuseWhatBelongsToNoSequence() throws Exception {
        HttpResponse<String> missing = post(DIRECT, "77", 1, false, false);
        assertThat(missing.statusCode()).isEqualTo(400);
        assertThat(missing.body())
                .isEqualTo(
                        "{\"error\":\"inference request for sequence 77 to model 'running_sum' must specify the START"
                                + " flag on the first request of the sequence\"}");
        assertThatThrownBy(() -> grpc.service().modelInfer(step(OLDEST, text(""), 1, true, false)))
                .isInstanceOfSatisfying(StatusRuntimeException.class, e -> {
                    assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
                    assertThat(e.getStatus().getDescription())
                            .isEqualTo(
                                    "inference request to model 'oldest_sequence' must specify a non-zero or non-empty"
                                            + " correlation ID");
                });
    }

    @Test
    void shouldKeepTheSumsOfMoreSequencesThanThereAreSlots() throws Exception {
        List<Future<?>> clients = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int client = 1; client <= 24; client++) {
                long id = client;
                String model = client % 2 == 0 ? DIRECT : OLDEST;
                clients.add(threads.submit(() -> {
                    int expected = 0;
                    for (int i = 1; i <= 20; i++) {
                        expected += (int) id * i;
                        ModelInferRequest request = step(model, number(id), (int) id * i, i == 1, i == 20);
                        assertThat(sum(grpc.service().modelInfer(request)))
                                .as("step " + i + " of sequence " + id)
                                .isEqualTo(expected);
                    }
                    return null;
                }));
            }
            for (Future<?> client : clients) {
                client.get(60, TimeUnit.SECONDS);
            }
        }
    }

    @Test
    void shouldTakeTheStepsOfAStreamInItsOrder() throws Exception {
        for (String model : List.of(DIRECT, OLDEST, ENSEMBLE)) {
            StreamClient stream = StreamClient.open(grpc);
            int steps = 50;
            for (int i = 1; i <= steps; i++) {
                stream.send(step(model, number(501), i, i == 1, i == steps));
                stream.send(step(model, text("other"), -i, i == 1, i == steps));
            }
            int expected = 0;
            for (int i = 1; i <= steps; i++) {
                expected += i;
                assertThat(sum(stream.next())).as("step " + i + " of " + model).isEqualTo(expected);
                assertThat(sum(stream.next())).as("step " + i + " of " + model).isEqualTo(-expected);
            }
            stream.complete();
        }
    }
}
