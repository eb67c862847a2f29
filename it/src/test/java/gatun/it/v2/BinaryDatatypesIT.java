// SPDX-License-Identifier: Apache-2.0
package gatun.it.v2;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.memory.tensor.Datatype;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.InferTensorContents;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelMetadataRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Datatypes that the v2 protocol carries as bytes only: those without a form in JSON, most of them TensorFlow's. */
@Timeout(120)
class BinaryDatatypesIT {
    private static final int COUNT = 3;

    @AutoClose
    private static ServerProcess server;

    @AutoClose
    private static HttpApi http;

    @AutoClose
    private static GrpcClient grpc;

    @BeforeAll
    static void start(@TempDir Path models) throws Exception {
        ModelRepositoryFolder repository = new ModelRepositoryFolder(models);
        for (Datatype datatype : binaryOnly().toList()) {
            Files.createDirectories(models.resolve(model(datatype)).resolve("1"));
            repository.config(model(datatype), """
                    backend: "identity"
                    input { name: "IN" data_type: TYPE_%1$s dims: -1 }
                    output { name: "OUT" data_type: TYPE_%1$s dims: -1 }
                    """.formatted(datatype.name()));
        }
        server = ServerProcess.launch(models, "--allow-client-shm");
        http = new HttpApi(server);
        grpc = GrpcClient.tcp(server.grpcPort());
    }

    static Stream<Datatype> binaryOnly() {
        return Stream.concat(
                Stream.of(Datatype.FP16, Datatype.BF16),
                Stream.of(Datatype.values())
                        .filter(datatype -> datatype.compareTo(Datatype.COMPLEX64) >= 0 && datatype.isFixedSize()));
    }

    private static String model(Datatype datatype) {
        return "echo_" + datatype.name();
    }

    private static String path(Datatype datatype) {
        return "/v2/models/" + model(datatype) + "/infer";
    }

    /** Bytes of three elements, all of them different. */
    private static byte[] elements(Datatype datatype) {
        byte[] bytes = new byte[COUNT * datatype.byteSize()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i + 1);
        }
        return bytes;
    }

    private static String input(Datatype datatype, String content) {
        return "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"" + datatype.name() + "\",\"shape\":[" + COUNT + "],"
                + content + "}]";
    }

    /** A request with bytes behind its JSON, over HTTP. */
    private static HttpResponse<byte[]> binary(Datatype datatype, byte[] elements, String outputs) {
        String json = input(datatype, "\"parameters\":{\"binary_data_size\":" + elements.length + "}") + outputs + "}";
        byte[] head = json.getBytes(StandardCharsets.UTF_8);
        byte[] body = Arrays.copyOf(head, head.length + elements.length);
        System.arraycopy(elements, 0, body, head.length, elements.length);
        return http.send(
                HttpRequest.newBuilder(http.uri(path(datatype)))
                        .header("Inference-Header-Content-Length", String.valueOf(head.length))
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body)),
                HttpResponse.BodyHandlers.ofByteArray());
    }

    private static String text(HttpResponse<byte[]> response) {
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    private static ModelInferRequest.Builder request(Datatype datatype) {
        ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName(model(datatype));
        request.addInputsBuilder().setName("IN").setDatatype(datatype.name()).addShape(COUNT);
        return request;
    }

    private static Status failure(ModelInferRequest.Builder request) {
        StatusRuntimeException failure = catchThrowableOfType(
                StatusRuntimeException.class, () -> grpc.service().modelInfer(request.build()));
        assertThat(failure).as("the call fails").isNotNull();
        return failure.getStatus();
    }

    @ParameterizedTest
    @MethodSource("binaryOnly")
    void shouldTakeAndGiveBytesOverHttp(Datatype datatype) {
        byte[] elements = elements(datatype);
        String outputs = ",\"outputs\":[{\"name\":\"OUT\",\"parameters\":{\"binary_data\":true}}]";

        HttpResponse<byte[]> response = binary(datatype, elements, outputs);

        assertThat(response.statusCode()).as(text(response)).isEqualTo(200);
        assertThat(text(response)).contains("\"datatype\":\"" + datatype.name() + "\",\"shape\":[3]");
        assertThat(Arrays.copyOfRange(
                        response.body(), response.body().length - elements.length, response.body().length))
                .isEqualTo(elements);
        assertThat(http.get("/v2/models/" + model(datatype)).body())
                .contains("{\"name\":\"IN\",\"datatype\":\"" + datatype.name() + "\",\"shape\":[-1]}");

        HttpResponse<byte[]> asJson = binary(datatype, elements, "");
        assertThat(asJson.statusCode()).as(text(asJson)).isEqualTo(400);
        assertThat(text(asJson))
                .contains("sending " + datatype.name()
                        + " data via JSON is not supported. Please use the binary data format");
        byte[] shorter = Arrays.copyOf(elements, elements.length - 1);
        HttpResponse<byte[]> tooShort = binary(datatype, shorter, outputs);
        assertThat(tooShort.statusCode()).as(text(tooShort)).isEqualTo(400);
        assertThat(text(tooShort)).contains("IN", "" + shorter.length, "" + elements.length);
    }

    @ParameterizedTest
    @MethodSource("binaryOnly")
    void shouldRefuseElementsInJson(Datatype datatype) {
        HttpResponse<String> response = http.post(path(datatype), input(datatype, "\"data\":[1,2,3]") + "}");

        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
        assertThat(response.body())
                .contains("receiving " + datatype.name()
                        + " data via JSON is not supported. Please use the binary data format for input IN");
    }

    @ParameterizedTest
    @MethodSource("binaryOnly")
    void shouldTakeAndGiveRawContentsOverGrpc(Datatype datatype) {
        ByteString elements = ByteString.copyFrom(elements(datatype));

        ModelInferResponse response = grpc.service()
                .modelInfer(request(datatype).addRawInputContents(elements).build());

        assertThat(response.getOutputs(0).getDatatype()).isEqualTo(datatype.name());
        assertThat(response.getOutputs(0).getShapeList()).containsExactly((long) COUNT);
        assertThat(response.getRawOutputContentsList()).containsExactly(elements);
        assertThat(grpc.service()
                        .modelMetadata(ModelMetadataRequest.newBuilder()
                                .setName(model(datatype))
                                .build())
                        .getInputs(0)
                        .getDatatype())
                .isEqualTo(datatype.name());

        Status tooShort = failure(request(datatype).addRawInputContents(elements.substring(1)));
        assertThat(tooShort.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(tooShort.getDescription()).contains("IN", "" + (elements.size() - 1), "" + elements.size());
        ModelInferRequest.Builder typed = request(datatype);
        typed.getInputsBuilder(0)
                .setContents(InferTensorContents.newBuilder()
                        .addIntContents(1)
                        .addIntContents(2)
                        .addIntContents(3));
        Status withoutForm = failure(typed);
        assertThat(withoutForm.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(withoutForm.getDescription())
                .contains(
                        "unexpected explicit tensor data for input tensor 'IN'",
                        "expected datatype '" + datatype.name());
        ModelInferRequest.Builder other = request(datatype).addRawInputContents(ByteString.copyFrom(new byte[3]));
        other.getInputsBuilder(0).setDatatype("INT8");
        assertThat(failure(other).getDescription()).contains("IN", "INT8", datatype.name());
    }

    @ParameterizedTest
    @MethodSource("binaryOnly")
    void shouldTakeAndGiveThemInSharedMemory(Datatype datatype) throws Exception {
        byte[] elements = elements(datatype);
        int half = 64;
        int all = 2 * half;
        try (SharedObject object = SharedObject.create(all)) {
            object.write(0, elements);
            assertThat(http.register(datatype.name(), object.key(), "0", "" + all)
                            .statusCode())
                    .isEqualTo(200);
            String window = "\"parameters\":{\"shared_memory_region\":\"" + datatype.name()
                    + "\",\"shared_memory_byte_size\":%d,\"shared_memory_offset\":%d}";

            HttpResponse<String> overHttp = http.post(
                    path(datatype),
                    input(datatype, window.formatted(elements.length, 0)) + ",\"outputs\":[{\"name\":\"OUT\","
                            + window.formatted(half, half) + "}]}");

            assertThat(overHttp.statusCode()).as(overHttp.body()).isEqualTo(200);
            assertThat(overHttp.body()).contains("\"datatype\":\"" + datatype.name() + "\"");
            assertThat(object.read(half, elements.length).array()).isEqualTo(elements);

            ModelInferRequest.Builder overGrpc = request(datatype);
            overGrpc.getInputsBuilder(0)
                    .putParameters("shared_memory_region", text(datatype.name()))
                    .putParameters("shared_memory_byte_size", number(elements.length));
            assertThat(grpc.service().modelInfer(overGrpc.build()).getRawOutputContentsList())
                    .containsExactly(ByteString.copyFrom(elements));
            overGrpc.getInputsBuilder(0).putParameters("shared_memory_byte_size", number(elements.length - 1));
            assertThat(failure(overGrpc).getDescription())
                    .contains("IN", "" + (elements.length - 1), "" + elements.length);
            assertThat(http.unregister(datatype.name()).statusCode()).isEqualTo(200);
        }
    }

    private static InferParameter text(String value) {
        return InferParameter.newBuilder().setStringParam(value).build();
    }

    private static InferParameter number(long value) {
        return InferParameter.newBuilder().setInt64Param(value).build();
    }
}
