// SPDX-License-Identifier: Apache-2.0
package gatun.it.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.ServerProcess;
import gatun.wire.tensorflow.serving.ClassificationRequest;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Long requests of TensorFlow Serving's clients to a server with default flags: they are answered rightly or refused by
 * a limit's name, and the server lives.
 */
@Timeout(120)
class TensorFlowLimitsIT {
    private static final Duration DEADLINE = Duration.ofSeconds(60);
    private static final int CLIENTS = 8;
    private static final int NUMBERS = 1_000_000;

    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static ServerProcess server;

    @BeforeAll
    static void start(@TempDir Path repository) throws Exception {
        identity(repository, "floats", "max_batch_size: 0", "TYPE_FP32", "");
        identity(repository, "texts", "max_batch_size: 0", "TYPE_STRING", "");
        identity(
                repository,
                "judge",
                "max_batch_size: 1048576",
                "TYPE_FP32",
                "parameters { key: \"tensorflow_regress\" value { string_value: \"outputs=OUT\" } }");
        server = ServerProcess.launch(repository);
    }

    @AfterAll
    static void stop() {
        server.close();
        HTTP.close();
    }

    private static void identity(Path repository, String name, String batches, String type, String more)
            throws IOException {
        Files.createDirectories(repository.resolve(name).resolve("1"));
        String dims = more.isEmpty() ? "[ -1 ]" : "[ 1 ]";
        Files.writeString(
                repository.resolve(name).resolve("config.pbtxt"), """
                backend: "identity" %s
                input [ { name: "IN" data_type: %s dims: %s } ]
                output [ { name: "OUT" data_type: %s dims: %s } ]
                %s
                """.formatted(batches, type, dims, type, dims, more));
    }

    private static HttpResponse<InputStream> post(String path, byte[] body) {
        try {
            return HTTP.send(
                    HttpRequest.newBuilder(server.http(path))
                            .timeout(DEADLINE)
                            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                            .build(),
                    HttpResponse.BodyHandlers.ofInputStream());
        } catch (IOException e) {
            throw new AssertionError("the server does not answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    private static String answer(String path, String body, int status) throws IOException {
        HttpResponse<InputStream> response = post(path, body.getBytes(StandardCharsets.UTF_8));
        try (InputStream in = response.body()) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            assertThat(response.statusCode())
                    .as(text.substring(0, Math.min(500, text.length())))
                    .isEqualTo(status);
            return text;
        }
    }

    private static void requireServing() throws IOException {
        assertThat(answer("/v1/models/floats:predict", "{\"instances\":[1,2]}", 200))
                .isEqualTo("{\n    \"predictions\": [1.0, 2.0\n    ]\n}");
    }

    /** Counts how often {@code element} stands in a response, without keeping the response. */
    private static long count(HttpResponse<InputStream> response, String element) throws IOException {
        byte[] expected = element.getBytes(StandardCharsets.US_ASCII);
        long count = 0;
        int matched = 0;
        try (InputStream in = response.body()) {
            byte[] window = new byte[64 * 1024];
            for (int length = in.read(window); length >= 0; length = in.read(window)) {
                for (int i = 0; i < length; i++) {
                    matched = window[i] == expected[matched] ? matched + 1 : window[i] == expected[0] ? 1 : 0;
                    if (matched == expected.length) {
                        matched = 0;
                        count++;
                    }
                }
            }
        }
        return count;
    }

    @Test
    void shouldAnswerLongRowsOfEightClientsAtOnce() throws Exception {
        byte[] request = ("{\"instances\":[7" + ",7".repeat(NUMBERS - 1) + "]}").getBytes(StandardCharsets.UTF_8);
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Long>> responses = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                responses.add(clients.submit(() -> {
                    HttpResponse<InputStream> response = post("/v1/models/floats:predict", request);
                    assertThat(response.statusCode()).isEqualTo(200);
                    return count(response, "7.0");
                }));
            }
            requireServing();
            for (Future<Long> answer : responses) {
                assertThat(answer.get()).isEqualTo(NUMBERS);
            }
        }
    }

    @Test
    void shouldAnswerManyShortStringsAndOneLongOne() throws Exception {
        byte[] many = ("{\"inputs\":[\"a\"" + ",\"a\"".repeat(NUMBERS - 1) + "]}").getBytes(StandardCharsets.UTF_8);
        HttpResponse<InputStream> response = post("/v1/models/texts:predict", many);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(count(response, "\"a\"")).isEqualTo(NUMBERS);

        byte[] one = ("{\"inputs\":[{\"b64\":\"" + "YWFh".repeat(10 << 18) + "\"}]}").getBytes(StandardCharsets.UTF_8);
        response = post("/v1/models/texts:predict", one);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(count(response, "aaa")).isEqualTo(10 << 18);
    }

    @Test
    void shouldAnswerManyExamples() throws Exception {
        int examples = 200_000;
        byte[] request = ("{\"signature_name\":\"regress\",\"examples\":[{\"IN\":7.5}"
                        + ",{\"IN\":7.5}".repeat(examples - 1) + "]}")
                .getBytes(StandardCharsets.UTF_8);
        HttpResponse<InputStream> response = post("/v1/models/judge:regress", request);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(count(response, "7.5")).isEqualTo(examples);
    }

    @Test
    void shouldRefuseLongTextsByTheNameOfTheirLimit() throws Exception {
        String text = "x".repeat(60 << 20);
        assertThat(answer("/v1/models/floats:predict", "{\"signature_name\":\"" + text + "\",\"instances\":[1]}", 413))
                .contains("--limit-text-byte-size");
        requireServing();
    }

    /** Calls {@code method} with a message of any bytes; returns its status. */
    private static Status.Code call(GrpcClient client, MethodDescriptor<?, ?> method, byte[] message) {
        MethodDescriptor.Marshaller<byte[]> raw = new MethodDescriptor.Marshaller<>() {
            @Override
            public InputStream stream(byte[] value) {
                return new ByteArrayInputStream(value);
            }

            @Override
            public byte[] parse(InputStream stream) {
                return new byte[0];
            }
        };
        MethodDescriptor<byte[], byte[]> anything = method.toBuilder(raw, raw).build();
        StatusRuntimeException failure = catchThrowableOfType(
                StatusRuntimeException.class,
                () -> ClientCalls.blockingUnaryCall(client.channel(), anything, CallOptions.DEFAULT, message));
        return failure == null ? Status.Code.OK : failure.getStatus().getCode();
    }

    /** So many empty fields of that number. */
    private static byte[] emptyFields(int field, int count) {
        byte[] fields = new byte[2 * count];
        for (int i = 0; i < fields.length; i += 2) {
            fields[i] = (byte) (field << 3 | 2);
        }
        return fields;
    }

    @Test
    void shouldRefuseMessagesOfMillionsOfParts() throws Exception {
        int parts = 10_000_000;
        PredictRequest.Builder predict = PredictRequest.newBuilder();
        predict.getModelSpecBuilder().setName("floats");
        ByteString head = predict.build().toByteString();
        ClassificationRequest.Builder regress = ClassificationRequest.newBuilder();
        regress.getModelSpecBuilder().setName("judge").setSignatureName("regress");
        try (GrpcClient client = GrpcClient.tcp(server.grpcPort())) {
            for (int field :
                    new int[] {PredictRequest.INPUTS_FIELD_NUMBER, PredictRequest.OUTPUT_FILTER_FIELD_NUMBER}) {
                assertThat(call(
                                client,
                                PredictionServiceGrpc.getPredictMethod(),
                                head.concat(ByteString.copyFrom(emptyFields(field, parts)))
                                        .toByteArray()))
                        .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            }
            assertThat(call(client, PredictionServiceGrpc.getMultiInferenceMethod(), emptyFields(1, parts)))
                    .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            // Each is an example without the feature that the input is filled from.
            ByteString list = field(1, ByteString.copyFrom(emptyFields(1, 1_000_000)));
            assertThat(call(
                            client,
                            PredictionServiceGrpc.getRegressMethod(),
                            regress.build()
                                    .toByteString()
                                    .concat(field(2, list))
                                    .toByteArray()))
                    .isEqualTo(Status.Code.INVALID_ARGUMENT);
        }
        requireServing();
    }

    private static ByteString field(int number, ByteString value) {
        ByteString.Output out = ByteString.newOutput();
        out.write(number << 3 | 2);
        int length = value.size();
        while (length > 0x7f) {
            out.write((length & 0x7f) | 0x80);
            length >>>= 7;
        }
        out.write(length);
        return out.toByteString().concat(value);
    }
}
