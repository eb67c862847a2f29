// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that must not succeed: each gets its text and its status, and leaves nothing behind. */
class InferErrorsTest {
    private static final String GOOD = "{\"name\":\"IN0\",\"datatype\":\"INT32\",\"shape\":[1,2],\"data\":[1,2]}";
    private static final String JSON_FAILED = "failed to parse the request JSON buffer: ";

    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "ints", 8, "TYPE_INT32 [ 2 ]");
        ListenerUnderTest.writeModel(repository, "pair", 0, "TYPE_FP32 [ 2 ]", "TYPE_FP32 [ 2 ]");
        ListenerUnderTest.writeModel(repository, "half", 0, "TYPE_FP16 [ 2 ]");
        edge = V2TestServer.start(repository);
    }

    @AfterAll
    static void stop() {
        edge.close();
    }

    @AfterEach
    void shouldHaveGivenEveryBufferBack() {
        edge.awaitNothingLent();
    }

    static Stream<Arguments> badJson() {
        return Stream.of(
                Arguments.of("{", JSON_FAILED + "Missing a name for object member. at 1"),
                Arguments.of(
                        "{\"inputs\":[" + GOOD + "]",
                        JSON_FAILED + "Missing a comma or '}' after an object member. at 72"),
                Arguments.of(
                        "{\"inputs\":[" + GOOD + "]}}",
                        JSON_FAILED + "The document root must not be followed by other values. at 73"),
                Arguments.of("[1 2]", JSON_FAILED + "Missing a comma or ']' after an array element. at 3"),
                Arguments.of("{\"id\":tru}", JSON_FAILED + "Invalid value. at 9"),
                Arguments.of("{\"id\":1.}", JSON_FAILED + "Miss fraction part in number. at 8"),
                Arguments.of("{\"id\":1e400}", JSON_FAILED + "Number too big to be stored in double. at 6"),
                Arguments.of("{\"id\":7,\"x\":[}", JSON_FAILED + "Invalid value. at 13"),
                Arguments.of(
                        input("INT32", "[1,2]", "\"parameters\":{\"binary_data_size\":8}") + "12345678",
                        JSON_FAILED + "The document root must not be followed by other values. at 96"),
                Arguments.of("[]", "attempt to access JSON non-object as object"),
                Arguments.of("{}", "Unable to parse 'inputs': attempt to access non-existing object member 'inputs'"),
                Arguments.of("{\"inputs\":1}", "Unable to parse 'inputs': attempt to access JSON non-array as array"),
                Arguments.of(
                        "{\"inputs\":[1]}", "Unable to parse 'inputs': attempt to access JSON non-object as object"),
                Arguments.of(
                        "{\"id\":7,\"inputs\":[" + GOOD + "]}",
                        "Unable to parse 'id': attempt to access JSON non-string as string"),
                Arguments.of(
                        "{\"inputs\":[{\"datatype\":\"INT32\",\"shape\":[1,2],\"data\":[1,2]}]}",
                        "Unable to parse 'name': attempt to access non-existing object member 'name'"),
                Arguments.of(
                        "{\"inputs\":[{\"name\":\"IN0\",\"shape\":[1,2],\"data\":[1,2]}]}",
                        "Unable to parse 'datatype': attempt to access non-existing object member 'datatype'"),
                Arguments.of(
                        "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"INT32\",\"data\":[1,2]}]}",
                        "Unable to parse 'shape': attempt to access non-existing object member 'shape'"),
                Arguments.of(
                        input("INT32", "[9223372036854775808]", "\"data\":[1,2]"),
                        "invalid shape for input 'IN0': shape [-9223372036854775808] contains one or more invalid"
                                + " dimensions"),
                Arguments.of(
                        input("INT32", "[9223372036854775807,9223372036854775807]", "\"data\":[1,2]"),
                        "invalid shape for input 'IN0': shape [9223372036854775807,9223372036854775807] causes total"
                                + " element"
                                + " count to exceed maximum size of 9223372036854775807"),
                Arguments.of(
                        input("INT32", "[262145]", "\"data\":[1,2]"),
                        "JSON input 'IN0' has a byte_size (1048580 bytes) that exceeds the maximum allowed value of"
                                + " 1048576"
                                + " bytes. Use http-max-input-size to increase the limit."),
                Arguments.of(
                        input("INT32", "[200000]", "\"data\":[1,2]"),
                        "Failed to parse 'data' field: shape does not match true shape: the shape of input 'IN0' asks for"
                                + " 200000 elements, got 2"),
                Arguments.of(
                        input("INT32", "[1,2]", "\"data\":[1,2,3]"),
                        "Unable to parse 'data': Shape does not match true shape of 'data' field: the shape of input 'IN0'"
                                + " asks for 2 elements, got 3"),
                Arguments.of(
                        input("INT32", "[1,2]", "\"x\":0"),
                        "Input must set only one of the following fields: 'data', 'binary_data_size' in 'parameters',"
                                + " 'shared_memory_region' in 'parameters'. But no field is set"),
                Arguments.of(
                        input(
                                "INT32",
                                "[1,2]",
                                "\"data\":[1,2],\"parameters\":{\"binary_data_size\":8,"
                                        + "\"shared_memory_region\":\"r\"}"),
                        "Input must set only one of the following fields: 'data', 'binary_data_size' in 'parameters',"
                                + " 'shared_memory_region' in 'parameters'. But set 'data' 'binary_data_size'"
                                + " 'shared_memory_region'"),
                Arguments.of(
                        input("FP16", "[1,2]", "\"data\":[1,2]"),
                        "receiving FP16 data via JSON is not supported. Please use the binary data format for input"
                                + " IN0"),
                Arguments.of(input("FLOAT", "[1,2]", "\"data\":[1,2]"), "invalid datatype for input IN0"),
                Arguments.of(
                        input("INT32", "[1,2]", "\"parameters\":{\"binary_data_size\":8}"),
                        "unexpected size for input 'IN0', expecting 8 additional bytes for model 'ints'"),
                Arguments.of(
                        input("INT32", "[1,2]", "\"parameters\":{\"binary_data_size\":-8}"),
                        "Unable to parse 'binary_data_size': attempt to access JSON non-unsigned-integer as"
                                + " unsigned-integer"),
                Arguments.of(
                        input("FP32", "[1,2]", "\"data\":[1,2]"),
                        "[request id: <id_unknown>] inference input 'IN0' data-type is 'FP32', but model 'ints' expects"
                                + " 'INT32'"),
                Arguments.of(
                        input("INT32", "[1,3]", "\"data\":[1,2,3]"),
                        "[request id: <id_unknown>] unexpected shape for input 'IN0' for model 'ints'. Expected"
                                + " [-1,2], got"
                                + " [1,3]. NOTE: Setting a non-zero max_batch_size"),
                Arguments.of(
                        input("INT32", "[9,2]", "\"data\":[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9]"),
                        "[request id: <id_unknown>] inference request batch-size must be <= 8 for 'ints'"),
                Arguments.of(
                        "{\"inputs\":[]}", "[request id: <id_unknown>] expected 1 inputs but got 0 inputs for model"),
                Arguments.of(
                        "{\"inputs\":[" + GOOD.replace("IN0", "IN9") + "]}",
                        "unexpected inference input 'IN9' for model 'ints'"),
                Arguments.of(
                        with("\"outputs\":[{\"name\":\"OUT7\"}]"),
                        "unexpected inference output 'OUT7' for model 'ints'"),
                Arguments.of(
                        with("\"outputs\":[{}]"),
                        "Unable to parse 'name': attempt to access non-existing object member 'name'"),
                Arguments.of(
                        with("\"outputs\":{}"), "Unable to parse 'outputs': attempt to access JSON non-array as array"),
                Arguments.of(
                        with("\"outputs\":[{\"name\":\"OUT0\",\"parameters\":{\"binary_data\":1}}]"),
                        "Unable to parse 'binary_data': attempt to access JSON non-boolean as boolean"),
                Arguments.of(
                        with("\"outputs\":[{\"name\":\"OUT0\",\"parameters\":{\"classification\":\"1\"}}]"),
                        "Unable to set 'classification': attempt to access JSON non-unsigned-integer as"
                                + " unsigned-integer"),
                Arguments.of(
                        with("\"outputs\":[{\"name\":\"OUT0\",\"parameters\":{\"classification\":1,"
                                + "\"shared_memory_region\":\"r\"}}]"),
                        "Output can't set both 'shared_memory_region' and 'classification'"),
                Arguments.of(
                        with("\"outputs\":[{\"name\":\"OUT0\",\"parameters\":{\"binary_data\":true,"
                                + "\"shared_memory_region\":\"r\"}}]"),
                        "Output can't set both 'shared_memory_region' and 'binary_data'"),
                Arguments.of(
                        with("\"parameters\":{\"priority\":-1}"),
                        "Unable to parse 'priority': attempt to access JSON non-unsigned-integer as unsigned-integer"),
                Arguments.of(
                        with("\"parameters\":{\"timeout\":\"1\"}"),
                        "Unable to parse 'timeout': attempt to access JSON non-unsigned-integer as unsigned-integer"),
                Arguments.of(
                        with("\"parameters\":{\"sequence_start\":1}"),
                        "Unable to parse 'sequence_start': attempt to access JSON non-boolean as boolean"),
                Arguments.of(
                        with("\"parameters\":{\"binary_data_output\":1}"),
                        "Unable to parse 'binary_data_output': attempt to access JSON non-boolean as boolean"),
                Arguments.of(
                        with("\"parameters\":{\"triton_x\":1}"),
                        "parameter keys starting with 'triton_' are reserved for Triton usage and should not be"
                                + " specified."),
                Arguments.of(
                        with("\"parameters\":{\"x\":[]}"),
                        "parameter 'x' has invalid type. It should be either 'int', 'bool', or 'string'."),
                Arguments.of(
                        "{\"x\":" + "[".repeat(100_000), "JSON nesting depth exceeds maximum allowed limit (100)"));
    }

    @ParameterizedTest
    @MethodSource("badJson")
    void shouldRefuseBadJson(String json, String reason) {
        HttpResponse<String> response = edge.post("/v2/models/ints/infer", json);

        assertThat(response.body()).startsWith("{\"error\":\"" + reason);
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
    }

    /** As the protocol's reference implementation, whose tests want this code. */
    @ParameterizedTest
    @ValueSource(strings = {"[-1,2]", "[1.5,2]", "[2,\"2\"]"})
    void shouldCallAShapeOfOtherThanNumbersAnInternalError(String shape) {
        HttpResponse<String> response = edge.post("/v2/models/ints/infer", input("INT32", shape, "\"data\":[1,2]"));

        assertThat(response.body())
                .isEqualTo("{\"error\":\"Unable to parse 'shape': attempt to access JSON non-unsigned-integer as"
                        + " unsigned-integer\"}");
        assertThat(response.statusCode()).isEqualTo(500);
    }

    @Test
    void shouldNotFindWhatIsNotThere() {
        assertFails("/v2/models/none/infer", 404, "Request for unknown model: 'none' is not found");
        assertFails(
                "/v2/models/ints/versions/9/infer", 404, "Request for unknown model: 'ints' version 9 is not found");
        assertFails(
                "/v2/models/ints/versions/99999999999999999999/infer",
                400,
                "failed to get model version from specified version string '99999999999999999999' (details: stol),"
                        + " version"
                        + " should be an integral value > 0");
        assertFails("/v2/models/ints/versions/one/infer", 404, "Not Found");
        assertFails("/v2/models//infer", 404, "Not Found");
        assertFails("/v2/models/ints/versions/1/infer/", 404, "Not Found");
        assertFails("/v2/nothing", 404, "Not Found");
        assertThat(edge.get("/v2/models/ints/infer").statusCode()).isEqualTo(405);
        assertThat(edge.get("/v2/models/ints/infer").body()).isEqualTo("{\"error\":\"Method Not Allowed\"}");
    }

    @Test
    void shouldRefuseAnUnknownRegion() {
        String window = "\"parameters\":{\"shared_memory_region\":\"r\",\"shared_memory_byte_size\":8}";
        HttpResponse<String> input = edge.post("/v2/models/ints/infer", input("INT32", "[1,2]", window));
        HttpResponse<String> output =
                edge.post("/v2/models/ints/infer", with("\"outputs\":[{\"name\":\"OUT0\"," + window + "}]"));

        assertThat(input.body()).isEqualTo("{\"error\":\"Unable to find shared memory region: 'r'\"}");
        assertThat(input.statusCode()).isEqualTo(404);
        assertThat(output.body()).isEqualTo(input.body());
    }

    @Test
    void shouldRefuseToSendHalfPrecisionAsJson() {
        String json = "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"FP16\",\"shape\":[2],"
                + "\"parameters\":{\"binary_data_size\":4}}]}";

        HttpResponse<String> response = postBinary("half", json + "abcd", String.valueOf(json.length()));

        assertThat(response.body())
                .isEqualTo(
                        "{\"error\":\"sending FP16 data via JSON is not supported. Please use the binary data format for"
                                + " output\"}");
        assertThat(response.statusCode()).isEqualTo(400);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "x | Unable to parse Inference-Header-Content-Length, got: x",
                "1x | Unable to parse Inference-Header-Content-Length, got: 1x",
                "2147483648 | Unable to parse Inference-Header-Content-Length, value is out of range [ -2147483648,"
                        + " 2147483647 ], got: 2147483648",
                "99999999999999999999 | Unable to parse Inference-Header-Content-Length, value is out of range ["
                        + " -2147483648, 2147483647 ], got: 99999999999999999999",
                "-1 | inference header size should be in range (0, 10), got: -1",
                "11 | inference header size should be in range (0, 10), got: 11",
            })
    void shouldRefuseAWrongHeaderLength(String length, String reason) {
        HttpResponse<String> response = postBinary("ints", "0123456789", length);

        assertThat(response.body()).isEqualTo("{\"error\":\"" + reason + "\"}");
        assertThat(response.statusCode()).isEqualTo(400);
    }

    @Test
    void shouldRefuseBytesThatNoInputTakes() {
        String json = "{\"inputs\":[" + GOOD + "]}";

        HttpResponse<String> response = postBinary("ints", json + "abcd", String.valueOf(json.length()));

        assertThat(response.body()).isEqualTo("{\"error\":\"unexpected additional input data for model 'ints'\"}");
    }

    @Test
    void shouldRefuseBytesThatDoNotFillTheShape() {
        String json = input("INT32", "[1,2]", "\"parameters\":{\"binary_data_size\":4}");

        HttpResponse<String> response = postBinary("ints", json + "abcd", String.valueOf(json.length()));

        assertThat(response.body())
                .isEqualTo(
                        "{\"error\":\"[request id: <id_unknown>] input byte size mismatch for input 'IN0' for model 'ints'."
                                + " Expected 8, got 4\"}");
    }

    @Test
    void shouldRefuseARawRequestForSeveralInputs() {
        assertThat(postBinary("pair", "abcd", "0").body())
                .isEqualTo("{\"error\":\"Raw request must only have 1 input (found 1) to be deduced but got 2 inputs in"
                        + " 'pair' model configuration\"}");
    }

    private static void assertFails(String path, int status, String reason) {
        HttpResponse<String> response = edge.post(path, "{\"inputs\":[" + GOOD + "]}");
        assertThat(response.body()).isEqualTo("{\"error\":\"" + reason + "\"}");
        assertThat(response.statusCode()).isEqualTo(status);
    }

    private static HttpResponse<String> postBinary(String model, String body, String headerLength) {
        return edge.send(edge.request("/v2/models/" + model + "/infer")
                .header("Inference-Header-Content-Length", headerLength)
                .POST(HttpRequest.BodyPublishers.ofString(body, StandardCharsets.UTF_8))
                .build());
    }

    private static String input(String datatype, String shape, String source) {
        return "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"" + datatype + "\",\"shape\":" + shape + "," + source
                + "}]}";
    }

    private static String with(String member) {
        return "{\"inputs\":[" + GOOD + "]," + member + "}";
    }
}
