// SPDX-License-Identifier: Apache-2.0
package gatun.it.v2;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.RawHttp;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Errors of a client over HTTP harm nobody else: it gets a clear response, nothing leaks, and the next request works.
 */
class BadHttpInputIT {
    private static final int MAX_BODY_BYTES = 20_000_000;
    private static final String INFER = "/v2/models/simple/infer";
    private static final String LEFT = tensor("INPUT0", "INT32", "1, 16", numbers(16));
    private static final String RIGHT = tensor("INPUT1", "INT32", "1, 16", numbers(16));

    @RegisterExtension
    static final ServerExtension SERVER =
            ServerExtension.checkedForLeaks("--allow-client-shm", "--http-max-input-size=" + MAX_BODY_BYTES);

    private static String tensor(String name, String datatype, String shape, String data) {
        return "{\"name\": \"%s\", \"datatype\": \"%s\", \"shape\": [%s], \"data\": [%s]}"
                .formatted(name, datatype, shape, data);
    }

    private static String numbers(int count) {
        return String.join(", ", Collections.nCopies(count, "7"));
    }

    private static String inputs(String... tensors) {
        return "{\"inputs\": [" + String.join(", ", tensors) + "]}";
    }

    private static Arguments wrong(String body, String reason) {
        return Arguments.of(body, reason);
    }

    private static Arguments wrongLeft(String datatype, String shape, String data, String reason) {
        return wrong(inputs(tensor("INPUT0", datatype, shape, data), RIGHT), reason);
    }

    private static Arguments wrongBoth(String datatype, String shape, String data, String reason) {
        return wrong(inputs(tensor("INPUT0", datatype, shape, data), tensor("INPUT1", datatype, shape, data)), reason);
    }

    private static void assertRefused(HttpResponse<String> response, int status, String reason) {
        assertThat(response.body()).startsWith("{\"error\":\"").contains(reason);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    }

    static Stream<Arguments> wrongBodies() {
        String binary = "{\"name\": \"INPUT0\", \"datatype\": \"INT32\", \"shape\": [1, 16],"
                + " \"parameters\": {\"binary_data_size\": 64}}";
        return Stream.of(
                wrong("", "inputs"),
                wrong("{", "JSON"),
                wrong(inputs(LEFT, RIGHT).substring(0, 60), "JSON"),
                wrong(inputs(LEFT, RIGHT) + "}", "JSON"),
                wrong("[]", "object"),
                wrong("null", "object"),
                wrong("{\"inputs\": 5}", "inputs"),
                wrong("{\"inputs\": []}", "expected 2 inputs but got 0"),
                wrong("{\"inputs\": [{}]}", "name"),
                // Deep nesting, where nobody looks and where a tensor's data is read.
                wrong("{\"x\": " + "[".repeat(100_000), "nesting"),
                wrong("{\"inputs\": " + "[".repeat(100_000), "JSON"),
                wrong(inputs(tensor("INPUT0", "INT32", "1, 16", "[".repeat(100_000))), "nesting"),
                // Wrong, missing and surplus tensors.
                wrong(inputs(LEFT.replace("INPUT0", "OTHER"), RIGHT), "OTHER"),
                wrong(inputs(LEFT), "expected 2 inputs but got 1"),
                wrong(inputs(LEFT, RIGHT, LEFT.replace("INPUT0", "INPUT2")), "INPUT2"),
                wrong(inputs(LEFT, LEFT), "INPUT0"),
                wrong(inputs(LEFT, RIGHT, RIGHT), "INPUT1"),
                wrong(inputs(LEFT, RIGHT).replace("]}]}", "]}], \"outputs\": [{\"name\": \"NONE\"}]}"), "NONE"),
                // Datatypes.
                wrongLeft("NONE", "1, 16", numbers(16), "datatype"),
                wrongLeft("FP32", "1, 16", numbers(16), "FP32"),
                wrongLeft("BYTES", "1, 16", numbers(16), "string"),
                // Shapes.
                wrongLeft("INT32", "1, 17", numbers(17), "[1,17]"),
                wrongLeft("INT32", "16", numbers(16), "batch size"),
                wrongBoth("INT32", "8", numbers(8), "[8]"),
                wrongLeft("INT32", "1, 1, 16", numbers(16), "[1,1,16]"),
                wrongBoth("INT32", "9, 16", numbers(144), "batch-size must be <= 8"),
                wrongBoth("INT32", "0, 16", "", "batch-size must be >= 1"),
                wrongLeft("INT32", "9223372036854775807, 3", numbers(16), "exceed"),
                wrongLeft("INT32", "9223372036854775808", numbers(16), "invalid dimensions"),
                wrongLeft("INT32", "1, 4611686018427387904", numbers(16), "INPUT0"),
                wrongLeft("INT32", "1, 2147483648", numbers(16), "INPUT0"),
                // Sizes and values.
                wrongLeft("INT32", "1, 16", "1, 2, 3", "shape"),
                wrongLeft("INT32", "1, 16", numbers(17), "hape"),
                wrongLeft("INT32", "1, 16", "", "shape"),
                wrongLeft("INT32", "1, 16", "\"a\"", "data"),
                wrongLeft("INT32", "1, 16", "1.5", "data"),
                wrongLeft("INT32", "1, 16", "9999999999", "data"),
                wrong(inputs(binary, RIGHT), "INPUT0"));
    }

    /** As Triton, whose tests want this status. */
    @ParameterizedTest
    @ValueSource(strings = {"-1, 16", "1, -16", "99999999999999999999999"})
    void shouldAnswer500ToAShapeThatIsNoUnsignedIntegers(String shape) {
        assertRefused(
                SERVER.http().post(INFER, inputs(tensor("INPUT0", "INT32", shape, numbers(16)), RIGHT)),
                500,
                "Unable to parse 'shape': attempt to access JSON non-unsigned-integer as unsigned-integer");
    }

    @ParameterizedTest
    @MethodSource("wrongBodies")
    void shouldAnswer400ToAWrongBody(String body, String reason) {
        assertRefused(SERVER.http().post(INFER, body), 400, reason);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // the header's length as announced, the bytes of tensors that follow it, and the reason
                "whole    | 0   | INPUT0",
                "whole    | 100 | INPUT1",
                "whole    | 127 | INPUT1",
                "whole    | 129 | additional",
                "whole    | 200 | additional",
                "10       | 128 | JSON",
                "9999     | 128 | range",
                "-1       | 128 | range",
                "99999999999 | 128 | range",
                "many     | 128 | parse",
            })
    void shouldAnswer400ToWrongLengthsOfBinaryTensors(String headerLength, int tensorBytes, String reason) {
        byte[] header = SimpleModel.binaryHeader().getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        body.writeBytes(header);
        body.writeBytes(new byte[tensorBytes]);
        HttpRequest.Builder request = HttpRequest.newBuilder(SERVER.http(INFER))
                .header(
                        "Inference-Header-Content-Length",
                        headerLength.equals("whole") ? Integer.toString(header.length) : headerLength)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray()));
        assertRefused(SERVER.http().send(request, HttpResponse.BodyHandlers.ofString()), 400, reason);
    }

    @ParameterizedTest
    @CsvSource({
        "/v2/models/none/infer, unknown model",
        "/v2/models/simple/versions/99/infer, version 99",
        "/v2/models/simple/versions/one/infer, Not Found",
        "/v2/nothing, Not Found",
    })
    void shouldAnswer404ToWhatIsNotThere(String path, String reason) {
        assertRefused(SERVER.http().post(path, SimpleModel.json()), 404, reason);
    }

    @Test
    void shouldRefuseAVersionThatIsNoNumberOfThisWorld() {
        assertRefused(
                SERVER.http().post("/v2/models/simple/versions/99999999999999999999/infer", SimpleModel.json()),
                400,
                "99999999999999999999");
    }

    @Test
    void shouldRefuseWindowsThatNoRegionHas() throws Exception {
        String windows = """
                {"inputs": [
                  {"name": "INPUT0", "datatype": "INT32", "shape": [1, 16], "parameters":
                    {"shared_memory_region": "%s", "shared_memory_byte_size": %s, "shared_memory_offset": %s}},
                  {"name": "INPUT1", "datatype": "INT32", "shape": [1, 16], "parameters":
                    {"shared_memory_region": "small", "shared_memory_byte_size": 64}}]}""";
        try (SharedObject object = SharedObject.create(64)) {
            HttpApi http = SERVER.http();
            assertThat(http.register("small", object.key(), "0", "64").statusCode())
                    .isEqualTo(200);
            assertRefused(http.register("small", object.key(), "0", "64"), 400, "small");
            assertRefused(http.post(INFER, windows.formatted("none", "64", "0")), 404, "none");
            assertRefused(http.post(INFER, windows.formatted("small", "128", "0")), 400, "small");
            assertRefused(http.post(INFER, windows.formatted("small", "64", "1")), 400, "small");
            assertRefused(http.post(INFER, windows.formatted("small", "64", "18446744073709551615")), 400, "small");
            assertRefused(http.post(INFER, windows.formatted("small", "60", "0")), 400, "INPUT0");
            assertThat(http.unregister("small").statusCode()).isEqualTo(200);
        }
    }

    /** The engine finds out only while it runs, when its tensors of strings are made. */
    @Test
    void shouldFreeTheTensorsOfRequestsThatTheEngineRefuses() {
        String body = inputs(
                tensor("INPUT0", "BYTES", "1, 16", "\"no number\"" + ", \"1\"".repeat(15)),
                tensor("INPUT1", "BYTES", "1, 16", "\"1\"" + ", \"1\"".repeat(15)));
        for (int i = 0; i < 50; i++) {
            assertRefused(SERVER.http().post("/v2/models/simple_string/infer", body), 400, "onnx runtime error");
        }
    }

    @Test
    void shouldRefuseABodyBeyondTheLimitBeforeItComes() throws Exception {
        try (RawHttp connection = RawHttp.connect(SERVER.httpAddress())) {
            connection.send(head(INFER, MAX_BODY_BYTES + 1));
            assertThat(connection.readUntil("\r\n")).startsWith("HTTP/1.1 4");
            assertThat(connection.readUntil("}")).contains("" + MAX_BODY_BYTES);
        }
    }

    private static String head(String path, long bodyBytes) {
        return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + bodyBytes + "\r\n\r\n";
    }

    @Test
    void shouldAnswerABodyThatIsShorterThanAnnounced() throws Exception {
        try (RawHttp connection = RawHttp.connect(SERVER.httpAddress())) {
            connection.send(head(INFER, 5000) + SimpleModel.json()).endOutput();
            assertThat(connection.readUntil("\r\n")).startsWith("HTTP/1.1 400");
            assertThat(connection.readUntil("}")).contains("\"error\"");
        }
    }

    @Test
    void shouldNotTakeTheRestOfALongerBodyForMoreThanAWrongRequest() throws Exception {
        String json = SimpleModel.json();
        try (RawHttp connection = RawHttp.connect(SERVER.httpAddress())) {
            connection.send(head(INFER, json.length() - 10) + json + "\r\n\r\n");
            assertThat(connection.readUntil("\r\n")).startsWith("HTTP/1.1 400");
            assertThat(connection.readUntil("HTTP/1.1 4")).contains("JSON");
        }
    }

    @Test
    void shouldSurviveClientsThatLeaveInTheMiddleOfTheirRequest() throws Exception {
        String json = SimpleModel.json();
        String whole = head(INFER, json.length()) + json;
        for (int sent = 1; sent < whole.length(); sent += 13) {
            try (RawHttp connection = RawHttp.connect(SERVER.httpAddress())) {
                connection.send(whole.substring(0, sent));
            }
        }
        try (RawHttp connection = RawHttp.connect(SERVER.httpAddress())) {
            connection.send(head(INFER, 1_000_000));
            connection.send(new byte[500_000]);
            SERVER.awaitLentBytes(500_000);
        }
    }

    @Test
    void shouldServeOthersWhileAClientDoesNotReadItsAnswer() throws Exception {
        // More than the sockets' own buffers take.
        int elements = 4 << 20;
        String header = """
                {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [%d],
                   "parameters": {"binary_data_size": %d}}], "parameters": {"binary_data_output": true}}""".formatted(elements, 4 * elements);
        byte[] tensor = new byte[4 * elements];
        Arrays.fill(tensor, (byte) 7);
        try (RawHttp connection = RawHttp.connect(SERVER.httpAddress())) {
            connection
                    .send("POST /v2/models/identity_fp32/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                            + (header.length() + tensor.length) + "\r\nInference-Header-Content-Length: "
                            + header.length() + "\r\n\r\n" + header)
                    .send(tensor);
            assertThat(connection.readUntil("\r\n")).isEqualTo("HTTP/1.1 200 OK\r\n");
            SERVER.assertAnswers();
            SERVER.awaitLentBytes(tensor.length);
        }
    }
}
