package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import gatun.protocol.inference.ModelInferRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client does wrong is its own loss: a clear answer, nothing leaked, and the next request works. */
class BadInputIT {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String INFER = "/v2/models/simple/infer";

    private static ServerProcess server;
    private static HttpApi http;
    private static GrpcClient grpc;
    private static int descriptors;

    @BeforeAll
    static void start() throws Exception {
        server = ServerProcess.launch(ServerProcess.exampleModels(), "--http-max-input-size=1000000");
        http = new HttpApi(server);
        grpc = GrpcClient.tcp(server.grpcPort());
        answerBothWays();
        http.metric("nv_pinned_memory_pool_used_bytes");
        descriptors = openDescriptors();
    }

    @AfterAll
    static void stop() {
        grpc.close();
        http.close();
        server.close();
    }

    private static int openDescriptors() {
        File[] descriptors = new File("/proc/" + server.handle().pid() + "/fd").listFiles();
        return Objects.requireNonNull(descriptors, "/proc cannot be read").length;
    }

    private static void answerBothWays() {
        HttpResponse<String> next = http.post(INFER, SimpleModel.json());
        assertThat(next.statusCode()).as(next.body()).isEqualTo(200);
        assertThat(grpc.service().modelInfer(SimpleModel.grpc()).getOutputsCount())
                .isEqualTo(2);
    }

    @AfterEach
    void shouldHaveLeftNothing() throws Exception {
        answerBothWays();
        // A connection that a test broke off is noticed soon, but not before the test ends.
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (openDescriptors() > descriptors || http.metric("nv_pinned_memory_pool_used_bytes") > 0) {
            assertThat(System.nanoTime())
                    .as(
                            "%d descriptors, %d at first; %s bytes lent",
                            openDescriptors(), descriptors, http.metric("nv_pinned_memory_pool_used_bytes"))
                    .isLessThan(deadline);
        }
    }

    /** Quotes are written as apostrophes. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{",
                "[]",
                "null",
                "{'inputs': 5}",
                "{'inputs': []}",
                "{'inputs': [{}]}",
                "{'inputs': [{'name': 'INPUT0', 'datatype': 'INT32', 'shape': [1, 16], 'data': [1, 2, 3]}]}",
                "{'inputs': [{'name': 'INPUT0', 'datatype': 'INT32', 'shape': [1, 16], 'data': ['a']}]}",
                "{'inputs': [{'name': 'INPUT0', 'datatype': 'NONE', 'shape': [1, 16], 'data': [1]}]}",
                "{'inputs': [{'name': 'INPUT0', 'datatype': 'INT32', 'shape': [-1, 16], 'data': [1]}]}",
                "{'inputs': [{'name': 'INPUT0', 'datatype': 'INT32', 'shape': [9223372036854775807, 3], 'data': [1]}]}",
                "{'inputs': [{'name': 'INPUT0', 'datatype': 'INT32', 'shape': [1, 16], 'parameters': {'binary_data_size': 64}}]}",
            })
    void shouldAnswer400ToAWrongBody(String body) {
        HttpResponse<String> response = http.post(INFER, body.replace('\'', '"'));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
        assertThat(response.body()).startsWith("{\"error\":");
    }

    @Test
    void shouldNotFollowDeepNesting() {
        HttpResponse<String> response = http.post(INFER, "{\"inputs\": " + "[".repeat(100_000));
        assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    }

    @Test
    void shouldRefuseABodyBeyondTheLimit() {
        HttpResponse<String> response = http.post(INFER, " ".repeat(1_000_001));
        assertThat(response.statusCode()).as(response.body()).isBetween(400, 499);
        assertThat(response.body()).contains("1000000");
    }

    @Test
    void shouldNotKnowAnUnknownModelVersionOrRegion() {
        assertThat(http.post("/v2/models/none/infer", SimpleModel.json()).statusCode())
                .isBetween(400, 404);
        assertThat(http.post("/v2/models/simple/versions/99/infer", SimpleModel.json())
                        .statusCode())
                .isBetween(400, 404);
        assertThat(http.post(INFER, """
                                {"inputs": [{"name": "INPUT0", "datatype": "INT32", "shape": [1, 16], "parameters":
                                  {"shared_memory_region": "none", "shared_memory_byte_size": 64}}]}""").statusCode()).isBetween(400, 404);
        assertThat(http.get("/v2/nothing").statusCode()).isEqualTo(404);
    }

    @Test
    void shouldSurviveAClientThatSendsHalfARequest() throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), server.httpPort());
        for (int i = 0; i < 20; i++) {
            try (RawHttp connection = RawHttp.connect(address)) {
                connection.send(
                        "POST " + INFER + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{\"inputs\": [");
            }
        }
    }

    @Test
    void shouldSurviveAClientThatDoesNotReadItsAnswer() throws Exception {
        InetSocketAddress address = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), server.httpPort());
        String data = "1.5,".repeat(200_000);
        String body = "{\"inputs\": [{\"name\": \"INPUT0\", \"datatype\": \"FP32\", \"shape\": [200000], \"data\": ["
                + data.substring(0, data.length() - 1) + "]}]}";
        for (int i = 0; i < 5; i++) {
            try (RawHttp connection = RawHttp.connect(address)) {
                connection.send("POST /v2/models/identity_fp32/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                        + body.length() + "\r\n\r\n" + body);
                assertThat(connection.readUntil("\r\n")).isEqualTo("HTTP/1.1 200 OK\r\n");
            }
        }
    }

    private static void refuse(ModelInferRequest request, Status.Code code) {
        assertThatThrownBy(() -> grpc.service().modelInfer(request))
                .isInstanceOfSatisfying(StatusRuntimeException.class, failure -> {
                    assertThat(failure.getStatus().getCode()).isEqualTo(code);
                    assertThat(failure.getStatus().getDescription()).isNotBlank();
                });
    }

    @Test
    void shouldRefuseWrongRequestsOverGrpc() {
        ModelInferRequest right = SimpleModel.grpc();
        refuse(right.toBuilder().setModelName("none").build(), Status.Code.NOT_FOUND);
        refuse(right.toBuilder().removeInputs(1).build(), Status.Code.INVALID_ARGUMENT);
        refuse(right.toBuilder().clearRawInputContents().build(), Status.Code.INVALID_ARGUMENT);
        refuse(right.toBuilder().setRawInputContents(0, ByteString.EMPTY).build(), Status.Code.INVALID_ARGUMENT);
        refuse(
                right.toBuilder()
                        .setInputs(0, right.getInputs(0).toBuilder().setName("OTHER"))
                        .build(),
                Status.Code.INVALID_ARGUMENT);
        refuse(
                right.toBuilder()
                        .setInputs(0, right.getInputs(0).toBuilder().setDatatype("FP32"))
                        .build(),
                Status.Code.INVALID_ARGUMENT);
        refuse(
                right.toBuilder()
                        .setInputs(0, right.getInputs(0).toBuilder().setShape(1, Long.MAX_VALUE))
                        .build(),
                Status.Code.INVALID_ARGUMENT);
    }
}
