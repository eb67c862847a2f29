// SPDX-License-Identifier: Apache-2.0
package gatun.it.v1;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.it.harness.ServerExtension;
import gatun.it.harness.SharedObject;
import gatun.it.v1.V1Client.Response;
import gatun.it.v1.V1Header.Window;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Errors for v1's clients: the code and text of each row of its tables. Nothing is left behind. */
@Timeout(120)
class V1ErrorsIT {
    @RegisterExtension
    static final ServerExtension SERVER = ServerExtension.checkedForLeaks("--allow-client-shm");

    private static final byte[] ROW = new byte[64];

    private static V1Client http() {
        return new V1Client.Http(SERVER.http());
    }

    private static V1Client grpc() {
        return new V1Client.Grpc(SERVER.grpc().channel());
    }

    private static V1Header simple(long batch) {
        return V1Header.batch(batch).input("INPUT0", ROW).input("INPUT1", ROW);
    }

    private static Arguments row(String model, long version, V1Header header, String code, String text) {
        return Arguments.of(model, version, header, code, text);
    }

    private static Arguments invalid(V1Header header, String text) {
        return row("simple", V1Client.LATEST, header, "INVALID_ARG", text);
    }

    static Stream<Arguments> shouldTellWhatIsWrongOverBothTransports() {
        Window unknown = new Window("nowhere", 0, 64);
        return Stream.of(
                row(
                        "nosuch",
                        V1Client.LATEST,
                        simple(1),
                        "UNAVAILABLE",
                        "Request for unknown model: 'nosuch' is not found"),
                row(
                        "simple",
                        9,
                        simple(1),
                        "UNAVAILABLE",
                        "Request for unknown model: 'simple' version 9 is not found"),
                row(
                        "repeat_int32",
                        V1Client.LATEST,
                        V1Header.batch(1),
                        "UNSUPPORTED",
                        "the v1 API doesn't support models with decoupled transaction policy"),
                invalid(simple(0), "inference request batch-size must be >= 1 for 'simple'"),
                invalid(simple(9), "inference request batch-size must be <= 8 for 'simple'"),
                invalid(simple(0xffff_ffffL), "inference request batch-size must be <= 8 for 'simple'"),
                row(
                        "identity_fp32",
                        V1Client.LATEST,
                        V1Header.batch(2).input("INPUT0", ROW, 16),
                        "INVALID_ARG",
                        "inference request batch-size must be <= 1 for 'identity_fp32'"),
                invalid(
                        V1Header.batch(1).input("INPUT0", ROW),
                        "expected 2 inputs but got 1 inputs for model 'simple'"),
                invalid(simple(1).input("INPUT2", ROW), "expected 2 inputs but got 3 inputs for model 'simple'"),
                invalid(
                        V1Header.batch(1).input("INPUT0", ROW).input("OTHER", ROW),
                        "unexpected inference input 'OTHER' for model 'simple'"),
                invalid(simple(1).output("OTHER"), "unexpected inference output 'OTHER' for model 'simple'"),
                invalid(
                        V1Header.batch(1).input("INPUT0", ROW).input("INPUT0", ROW),
                        "input 'INPUT0' already exists in request"),
                invalid(simple(1).output("OUTPUT0").classes("OUTPUT0", 1), "output 'OUTPUT0' already requested"),
                invalid(
                        V1Header.batch(1).input("INPUT0", ROW, 15).input("INPUT1", ROW),
                        "unexpected shape for input 'INPUT0' for model 'simple'. Expected [16], got [15]"),
                invalid(
                        V1Header.batch(1).sized("INPUT0", ROW, 1, 16).input("INPUT1", ROW),
                        "specific batch-byte-size for input 'INPUT0' does not match expected byte-size calculated from"
                                + " shape and datatype for model 'simple'"),
                invalid(
                        V1Header.batch(1).input("INPUT0", ROW, 1, 16).input("INPUT1", ROW),
                        "unexpected shape for input 'INPUT0' for model 'simple'. Expected [16], got [1,16]"),
                row(
                        "identity_fp32",
                        V1Client.LATEST,
                        V1Header.batch(1).input("INPUT0", ROW),
                        "INVALID_ARG",
                        "model supports variable-size for input 'INPUT0', request must specify input shape for model"
                                + " 'identity_fp32'"),
                row(
                        "identity_fp32",
                        V1Client.LATEST,
                        V1Header.batch(1).input("INPUT0", ROW, -7),
                        "INVALID_ARG",
                        "unexpected shape for input 'INPUT0' for model 'identity_fp32'. Expected [-1], got [-7]"),
                row(
                        "identity_fp32",
                        V1Client.LATEST,
                        V1Header.batch(1).input("INPUT0", ROW, Long.MAX_VALUE),
                        "INVALID_ARG",
                        "specific batch-byte-size for input 'INPUT0' does not match expected byte-size calculated from"
                                + " shape and datatype for model 'identity_fp32'"),
                row(
                        "simple_string",
                        V1Client.LATEST,
                        V1Header.batch(1)
                                .input("INPUT0", V1Client.strings("1"), 5)
                                .input("INPUT1", V1Client.strings("1"), 5),
                        "INVALID_ARG",
                        "unexpected shape for input 'INPUT0' for model 'simple_string'. Expected [16], got [5]"),
                row(
                        "simple_string",
                        V1Client.LATEST,
                        V1Header.batch(1)
                                .sized("INPUT0", V1Client.strings("1"), 5, 16)
                                .sized("INPUT1", V1Client.strings("1"), 5, 16),
                        "INVALID_ARG",
                        "expected 16 string elements for inference input 'INPUT0' for model 'simple_string', got 1"),
                row(
                        "simple_sequence",
                        V1Client.LATEST,
                        V1Header.batch(1).input("INPUT", new byte[4]),
                        "INVALID_ARG",
                        "inference request to model 'simple_sequence' must specify a non-zero correlation ID"),
                row(
                        "simple_sequence",
                        V1Client.LATEST,
                        V1Header.batch(2)
                                .input("INPUT", new byte[8])
                                .sequence(5)
                                .flags(1),
                        "INVALID_ARG",
                        "inference request to model 'simple_sequence' must specify batch-size 1 due to requirements of"
                                + " sequence batcher"),
                row(
                        "simple_string",
                        V1Client.LATEST,
                        strings(1).classes("OUTPUT0", 1),
                        "INVALID_ARG",
                        "class result not available for output due to unsupported type 'BYTES'"),
                row(
                        "simple",
                        V1Client.LATEST,
                        V1Header.batch(1).input("INPUT0", unknown).input("INPUT1", ROW),
                        "NOT_FOUND",
                        "Unable to find shared memory region: 'nowhere'"),
                row(
                        "simple",
                        V1Client.LATEST,
                        simple(1).output("OUTPUT0", unknown),
                        "NOT_FOUND",
                        "Unable to find shared memory region: 'nowhere'"));
    }

    private static V1Header strings(int batch) {
        String[] ones = new String[16 * batch];
        Arrays.fill(ones, "1");
        byte[] bytes = V1Client.strings(ones);
        return V1Header.batch(batch).sized("INPUT0", bytes, bytes.length, 16).sized("INPUT1", bytes, bytes.length, 16);
    }

    @ParameterizedTest
    @MethodSource
    void shouldTellWhatIsWrongOverBothTransports(
            String model, long version, V1Header header, String code, String text) {
        for (V1Client client : List.of(http(), grpc())) {
            Response answer = client.infer(model, version, header.id(42));
            assertThat(answer.text()).isEqualTo(text);
            assertThat(answer.code()).isEqualTo(code);
            assertThat(answer.header().number(5)).as("id").isEqualTo(42);
            assertThat(answer.header().has(1)).as("only the id").isFalse();
            assertThat(answer.raw()).isEmpty();
        }
    }

    @Test
    void shouldTellOverHttpHowMuchOfABodyIsMissingOrTooMuch() {
        assertThat(http().infer(
                                "simple",
                                1,
                                V1Header.batch(1).input("INPUT0", ROW).input("INPUT1", new byte[61]))
                        .text())
                .isEqualTo("unexpected size for input 'INPUT1', expecting 3 bytes for model 'simple'");
        assertThat(http().infer(
                                "simple",
                                1,
                                V1Header.batch(1).input("INPUT0", ROW).input("INPUT1", new byte[65]))
                        .text())
                .isEqualTo("unexpected additional input data for model 'simple'");
        assertThat(http().infer("simple", 1, window(63)).text())
                .isEqualTo("unexpected shared-memory size 63 for input 'INPUT0', expecting 64 for model 'simple'");
    }

    @Test
    void shouldTellOverGrpcWhichDataDoesNotFit() {
        V1Message lacking = V1Client.Grpc.request("simple", 1, simple(1));
        V1Message withoutData = new V1Message().text(1, "simple").number(2, 1).message(3, lacking.message(3));
        V1Client.Grpc client = new V1Client.Grpc(SERVER.grpc().channel());
        assertThat(V1Client.Grpc.answer(client.call("Infer", withoutData)).text())
                .isEqualTo("expected tensor data for at least 0 inputs but got only 0 sets of data for model 'simple'");
        assertThat(client.infer(
                                "simple",
                                1,
                                V1Header.batch(1).input("INPUT0", new byte[60]).input("INPUT1", ROW))
                        .text())
                .isEqualTo("unexpected size 60 for input 'INPUT0', expecting 64 for model 'simple'");
        assertThat(client.infer("simple", 1, window(65)).text())
                .isEqualTo("unexpected size 65 for input 'INPUT0', expecting 64 for model 'simple'");
        assertThat(client.infer("simple", -2, simple(1)).text())
                .isEqualTo("Request for unknown model: 'simple' version -2 is not found");
    }

    private static V1Header window(long byteSize) {
        return V1Header.batch(1).input("INPUT0", new Window("any", 0, byteSize)).input("INPUT1", ROW);
    }

    @Test
    void shouldRefuseAnOutputThatItsWindowCannotHold() throws Exception {
        try (SharedObject object = SharedObject.create(64)) {
            assertThat(SERVER.http()
                            .post("/api/sharedmemorycontrol/register/tight/" + object.key() + "/0/64", "")
                            .statusCode())
                    .isEqualTo(200);
            for (V1Client client : List.of(http(), grpc())) {
                Response answer = client.infer(
                        "identity_fp32",
                        1,
                        V1Header.batch(1).input("INPUT0", ROW, 16).output("OUTPUT0", new Window("tight", 0, 60)));
                assertThat(answer.code()).isEqualTo("INVALID_ARG");
                assertThat(answer.text())
                        .isEqualTo("shared memory size specified with the request for output 'OUTPUT0' (60 bytes)"
                                + " should be at least 64 bytes to hold the results");
            }
            assertThat(SERVER.http()
                            .post("/api/sharedmemorycontrol/unregister/tight", "")
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/api/, GET, 400",
        "/api/nosuch, GET, 400",
        "/api/infer, POST, 400",
        "/api/infer/, POST, 400",
        "/api/infer/simple/, POST, 400",
        "/api/infer/simple/one, POST, 400",
        "/api/infer/simple/1/2, POST, 400",
        "/api/infer/simple, GET, 405",
        "/api/infer, DELETE, 405",
        "/api/health, GET, 400",
        "/api/health/well, GET, 400",
        "/api/health/live/, GET, 400",
        "/api/health/live, POST, 405",
        "/api/status, POST, 405",
        "/api/statuses, GET, 400",
        "/api/repository, GET, 400",
        "/api/repository/models, GET, 400",
        "/api/repository/index, POST, 405",
        "/api/modelrepository/index, GET, 400",
        "/api/modelcontrol, POST, 400",
        "/api/modelcontrol/load, POST, 400",
        "/api/modelcontrol/reload/simple, POST, 400",
        "/api/modelcontrol/load/simple, GET, 405",
        "/api/sharedmemorycontrol, POST, 400",
        "/api/sharedmemorycontrol/status, POST, 405",
        "/api/sharedmemorycontrol/register/a/key/0/64, POST, 400",
        "/api/sharedmemorycontrol/register/a//key/-1/64, POST, 400",
        "/api/sharedmemorycontrol/register/a//key/0, POST, 400",
        "/api/sharedmemorycontrol/unregister, POST, 400",
        "/api/sharedmemorycontrol/unregister/a, GET, 405",
        "/api/sharedmemorycontrol/unregisterall, GET, 405",
    })
    void shouldAnswerOtherPathsAndMethodsWithoutABody(String path, String method, int status) {
        HttpResponse<String> response = SERVER.http()
                .send(
                        HttpRequest.newBuilder(SERVER.http(path)).method(method, HttpRequest.BodyPublishers.noBody()),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(response.body()).isEmpty();
        assertThat(response.headers().firstValue("NV-Status")).isEmpty();
        assertThat(response.headers().firstValue("Allow").isPresent()).isEqualTo(status == 405);
    }

    @ParameterizedTest
    @CsvSource({
        "/api/status/simple, DELETE, 405, 'GET, HEAD, OPTIONS'",
        "/api/infer/simple, GET, 405, 'POST, OPTIONS'",
        "/api/infer/simple, OPTIONS, 204, 'POST, OPTIONS'",
        "/api/infer, DELETE, 405, POST",
        "/api/health/live, HEAD, 200,",
        "/api/status/none, HEAD, 400,",
        "/api/health, HEAD, 400,",
    })
    void shouldTellTheMethodsOfAPath(String path, String method, int status, @Nullable String allowed) {
        HttpResponse<String> response = SERVER.http()
                .send(
                        HttpRequest.newBuilder(SERVER.http(path)).method(method, HttpRequest.BodyPublishers.noBody()),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(response.body()).isEmpty();
        assertThat(response.headers().firstValue("Allow")).isEqualTo(Optional.ofNullable(allowed));
    }

    @Test
    void shouldSayThatTheHeaderOfAnInferenceIsMissing() {
        HttpResponse<String> response = SERVER.http().post("/api/infer/simple", "");
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).isEqualTo("The request header should contain 'NV-InferRequest'");
        assertThat(response.headers().firstValue("NV-Status")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "batch_size: one",
                "batch_size: 1 input { name: \"INPUT0\"",
                "batch_size: -1",
                "batch_size: 4294967296",
                "nosuch: 1",
                "{\"batch_size\": 1}",
                "batch_size: 1 batch_size: 1",
            })
    void shouldRefuseAHeaderThatIsNoMessage(String header) {
        HttpResponse<String> response = SERVER.http()
                .send(
                        HttpRequest.newBuilder(SERVER.http("/api/infer/simple"))
                                .header("NV-InferRequest", header)
                                .POST(HttpRequest.BodyPublishers.noBody()),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).isEmpty();
        assertThat(response.headers().firstValue("NV-Status")).isEmpty();
    }

    @Test
    void shouldSayThatClientsDoNotLoadModelsHere() {
        String refused = "explicit model load / unload is not allowed if polling is enabled";
        for (String action : List.of("load", "unload")) {
            HttpResponse<String> response = SERVER.http().post("/api/modelcontrol/" + action + "/simple", "");
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(V1Client.Http.status(response)).startsWith("code: UNAVAILABLE msg: \"" + refused);
        }
        V1Message answer = new V1Client.Grpc(SERVER.grpc().channel())
                .call("ModelControl", new V1Message().text(1, "simple").number(2, 1));
        assertThat(answer.message(1).text(2)).startsWith(refused);
    }

    private static V1Message requestOfInputs(int count) {
        V1Message header = new V1Message().number(1, 1);
        for (int i = 0; i < count; i++) {
            header.message(2, new V1Message().text(1, "input" + i));
        }
        return new V1Message().text(1, "simple").number(2, 1).message(3, header);
    }

    @Test
    void shouldRefuseAnyNumberOfInputsBeforeTheClientGivesUp() {
        V1Client.Grpc client = new V1Client.Grpc(SERVER.grpc().channel());
        Response answer = V1Client.Grpc.answer(client.call("Infer", requestOfInputs(2000)));
        assertThat(answer.text()).isEqualTo("expected 2 inputs but got 2000 inputs for model 'simple'");

        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> client.call("Infer", requestOfInputs(500_000)))
                .withMessageContaining("--limit-text-byte-size")
                .satisfies(e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED));
    }

    @Test
    void shouldAnswerWhateverBytesCome() {
        V1Client.Grpc client = new V1Client.Grpc(SERVER.grpc().channel());
        byte[] request = V1Client.Grpc.request(
                        "identity_fp32",
                        1,
                        V1Header.batch(1).id(3).input("INPUT0", new byte[12], 3).output("OUTPUT0"))
                .toByteArray();
        for (int length = 0; length < request.length; length++) {
            assertThat(outcome(client, Arrays.copyOf(request, length)))
                    .as("the first %d bytes", length)
                    .isIn("UNAVAILABLE", "INVALID_ARG", "INVALID_ARGUMENT");
        }
        Random random = new Random(11);
        for (int round = 0; round < 1_000; round++) {
            byte[] changed = request.clone();
            for (int change = 0; change <= random.nextInt(3); change++) {
                changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            }
            assertThat(outcome(client, changed))
                    .as("round %d", round)
                    .isIn("SUCCESS", "UNAVAILABLE", "INVALID_ARG", "INVALID_ARGUMENT", "NOT_FOUND");
        }
    }

    /** The code of a response, or of a call that failed. */
    private static String outcome(V1Client.Grpc client, byte[] request) {
        try {
            return V1Client.Grpc.answer(V1Message.parse(client.call("Infer", request)))
                    .code();
        } catch (StatusRuntimeException e) {
            return e.getStatus().getCode().name();
        }
    }

    @Test
    void shouldAnswerWhateverHeaderComes() {
        String header = V1Header.batch(1)
                .id(3)
                .input("INPUT0", new byte[12], 3)
                .output("OUTPUT0")
                .text();
        Random random = new Random(12);
        for (int round = 0; round < 300; round++) {
            StringBuilder changed = new StringBuilder(header);
            for (int change = 0; change <= random.nextInt(3); change++) {
                changed.setCharAt(random.nextInt(changed.length()), (char) (' ' + random.nextInt(95)));
            }
            HttpResponse<String> response = SERVER.http()
                    .send(
                            HttpRequest.newBuilder(SERVER.http("/api/infer/identity_fp32"))
                                    .header("NV-InferRequest", changed.toString())
                                    .POST(HttpRequest.BodyPublishers.ofByteArray(new byte[12])),
                            HttpResponse.BodyHandlers.ofString());
            assertThat(response.statusCode()).as(changed.toString()).isIn(200, 400);
        }
    }
}
