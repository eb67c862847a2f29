// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import gatun.tensorflow.serving.TensorFlowSettings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PredictTest {
    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "rows", 8, "TYPE_FP32 [ 2 ]");
        ListenerUnderTest.writeModel(repository, "scalars", 0, "TYPE_FP32 [ -1 ]");
        ListenerUnderTest.writeModel(repository, "grid", 0, "TYPE_FP32 [ -1, -1 ]");
        ListenerUnderTest.writeModel(repository, "deep", 0, "TYPE_FP32 [ -1, -1, -1 ]");
        ListenerUnderTest.writeModel(repository, "pair", 0, "TYPE_FP32 [ -1, 2 ]", "TYPE_INT32 [ -1 ]");
        ListenerUnderTest.writeModel(repository, "strings", 0, "TYPE_STRING [ -1 ]");
        for (String type : new String[] {"BOOL", "UINT8", "INT8", "INT16", "INT64", "UINT32", "UINT64", "FP64"}) {
            ListenerUnderTest.writeModel(repository, type, 0, "TYPE_" + type + " [ -1 ]");
        }
        ListenerUnderTest.writeModel(repository, "half", 0, "TYPE_FP16 [ -1 ]");
        ListenerUnderTest.writeModel(repository, "bfloat16", 0, "TYPE_BF16 [ -1 ]");
        ListenerUnderTest.writeModel(repository, "uint16", 0, "TYPE_UINT16 [ -1 ]");
        edge = TensorFlowTestServer.start(repository, TensorFlowSettings.STANDARD);
    }

    @AfterAll
    static void stop() {
        edge.close();
    }

    @AfterEach
    void shouldHaveGivenEveryBufferBack() {
        edge.awaitNothingLent();
    }

    private static HttpResponse<String> predict(String model, String json) {
        return edge.post("/v1/models/" + model + ":predict", json);
    }

    private static String answer(String model, String json) {
        HttpResponse<String> response = predict(model, json);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
        return response.body();
    }

    private static String failure(int status, String model, String json) {
        HttpResponse<String> response = predict(model, json);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        String begin = "{\n    \"error\": \"";
        assertThat(response.body()).startsWith(begin).endsWith("\"\n}");
        return response.body().substring(begin.length(), response.body().length() - "\"\n}".length());
    }

    private static String mistake(String model, String json) {
        return failure(400, model, json);
    }

    @Test
    void shouldAnswerRowsWithRows() {
        assertThat(answer("rows", "{\"instances\":[[1.0,2],[3,4e0]]}")).isEqualTo("""
                        {
                            "predictions": [[1.0, 2.0], [3.0, 4.0]
                            ]
                        }""");
    }

    @Test
    void shouldAnswerScalarsWithScalars() {
        assertThat(answer("scalars", "{\"signature_name\":\"serving_default\",\"instances\":[2.5, 3]}"))
                .isEqualTo("""
                        {
                            "predictions": [2.5, 3.0
                            ]
                        }""");
    }

    @Test
    void shouldAnswerColumnsWithColumns() {
        assertThat(answer("scalars", "{\"inputs\":[1,2]}")).isEqualTo("""
                        {
                            "outputs": [
                                1.0,
                                2.0
                            ]
                        }""");
        assertThat(answer("scalars", "{\"inputs\":{\"IN0\":[1], \"other\":[2]}}"))
                .isEqualTo("""
                        {
                            "outputs": [
                                1.0
                            ]
                        }""");
        assertThat(answer("scalars", "{\"inputs\":[]}")).isEqualTo("""
                        {
                            "outputs": []
                        }""");
    }

    @Test
    void shouldAnswerSeveralOutputsByName() {
        assertThat(answer("pair", "{\"instances\":[{\"IN0\":[1,2],\"IN1\":3},{\"IN1\":4,\"IN0\":[3,4]}]}"))
                .isEqualTo("""
                        {
                            "predictions": [
                                {
                                    "OUT0": [1.0, 2.0],
                                    "OUT1": 3
                                },
                                {
                                    "OUT0": [3.0, 4.0],
                                    "OUT1": 4
                                }
                            ]
                        }""");
        assertThat(answer("pair", "{\"inputs\":{\"IN0\":[[1,2]],\"IN1\":[3]}}")).isEqualTo("""
                        {
                            "outputs": {
                                "OUT0": [
                                    [
                                        1.0,
                                        2.0
                                    ]
                                ],
                                "OUT1": [
                                    3
                                ]
                            }
                        }""");
    }

    @Test
    void shouldTakeTheLastOfTwoValuesOfOneName() {
        assertThat(answer("pair", "{\"instances\":[{\"IN0\":[1,2],\"IN1\":3,\"IN0\":[5,6]}]}"))
                .contains("\"OUT0\": [5.0, 6.0]");
    }

    @Test
    void shouldTakeStringsAndBase64() {
        assertThat(answer("strings", "{\"instances\":[\"a\\u00e9\\n\",{\"b64\":\"AAECAw==\"},{\"b64\":\"YmI\"}]}"))
                .isEqualTo("{\n    \"predictions\": [\"aé\\n\", \"\\u0000\\u0001\\u0002\\u0003\", \"bb\"\n    ]\n}");
        assertThat(answer("strings", "{\"inputs\":[\"x\",\"\"]}"))
                .isEqualTo("{\n    \"outputs\": [\n        \"x\",\n        \"\"\n    ]\n}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "BOOL; true, false",
                "UINT8; 0, 255",
                "INT8; -128, 127",
                "INT16; -32768, 7",
                "INT64; -9223372036854775808, 9223372036854775807",
                "UINT32; 0, 4294967295",
                "UINT64; 18446744073709551615, 0",
                "FP64; 0.1, 0.33333333333333331"
            })
    void shouldTakeEachDatatype(String model, String elements) {
        assertThat(answer(model, "{\"instances\":[" + elements + "]}"))
                .isEqualTo("{\n    \"predictions\": [" + elements + "\n    ]\n}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "BOOL; 1; Number; bool",
                "INT8; 1.0; Number; int8",
                "INT16; 2147483648; Number; int16",
                "INT64; 9223372036854775808; Number; int64",
                "UINT32; -1; Number; uint32",
                "UINT64; -1; Number; uint64",
                "FP64; true; True; double",
                "FP64; false; False; double",
                "scalars; null; Null; float",
                "INT64; 0.12345678; Number; int64",
                "INT64; 12345678901234567000; Number; int64",
                "scalars; \"1\"; String; float",
                "strings; 5; Number; string"
            })
    void shouldRefuseAValueOfAnotherType(String model, String value, String type, String expected) {
        assertThat(mistake(model, "{\"inputs\":[" + value + "]}"))
                .isEqualTo("JSON Value: " + value.replace("\"", "\\\"") + " Type: " + type
                        + " is not of expected type: " + expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "INT8; 1, 128; 128; int8; 1; -128 to 127",
                "INT8; -129; -129; int8; 0; -128 to 127",
                "UINT8; 1, 2, 256; 256; uint8; 2; 0 to 255",
                "UINT8; -1; -1; uint8; 0; 0 to 255",
                "INT16; 7, 32768; 32768; int16; 1; -32768 to 32767"
            })
    void shouldRefuseNumbersThatTheirTypeCannotHold(
            String model, String elements, String value, String type, long element, String range) {
        String expected = "JSON Value: " + value + " Type: Number is not of expected type: " + type + "; element "
                + element + " of input 'IN0' must be from " + range;
        assertThat(mistake(model, "{\"inputs\":[" + elements + "]}")).isEqualTo(expected);
        assertThat(mistake(model, "{\"instances\":[" + elements + "]}"))
                .isEqualTo("Failed to process element: " + element + " of 'instances' list. Error: INVALID_ARGUMENT: "
                        + expected);
    }

    @Test
    void shouldRefuseTextsThatNobodyNeeds() {
        String text = "x".repeat(70_000);
        assertThat(failure(413, "scalars", "{\"signature_name\":\"" + text + "\",\"inputs\":1}"))
                .contains("has 65537 bytes or more, more than the limit of 65536", "limit-text-byte-size");
        assertThat(failure(413, "pair", "{\"instances\":[{\"" + text + "\":1}]}"))
                .contains("limit-text-byte-size");
        assertThat(failure(413, "scalars", "{\"inputs\":[{\"" + text + "\":1}]}"))
                .contains("limit-text-byte-size");
        assertThat(mistake("scalars", "{\"inputs\":[{\"" + "x".repeat(60_000) + "\":1}]}"))
                .isEqualTo("JSON Value: {\\n    \\\"...\\\": 1\\n} Type: Object is not of expected type: float");
    }

    @Test
    void shouldRefuseObjectsAsNumbers() {
        assertThat(mistake("scalars", "{\"inputs\":[{\"b64\":\"AA==\"}]}"))
                .isEqualTo(
                        "JSON Value: {\\n    \\\"b64\\\": \\\"AA==\\\"\\n} Type: Object is not of expected type: float");
        assertThat(mistake("half", "{\"inputs\":[{\"b64\":\"AA==\"}]}")).endsWith("is not of expected type: half");
    }

    @Test
    void shouldRefuseWhatIsNoBase64() {
        assertThat(mistake("strings", "{\"inputs\":[{\"b64\":\"A?==\"}]}")).isEqualTo("Unable to base64 decode");
        for (String text : new String[] {"A", "AA=", "AAA==", "AAAA=", "AAAA====", "AA==AA==", "=", "AA-_", "é"}) {
            assertThat(mistake("strings", "{\"inputs\":[{\"b64\":\"" + text + "\"}]}"))
                    .as(text)
                    .isEqualTo("Unable to base64 decode");
        }
        assertThat(mistake("strings", "{\"inputs\":[{\"b64\":5}]}"))
                .isEqualTo("JSON Value: {\\n    \\\"b64\\\": 5\\n} not formatted correctly for base64 data");
    }

    @Test
    void shouldPassOverWhatIsNoPartOfBase64() {
        String expected = answer("strings", "{\"inputs\":[\"gatun\"]}");

        for (String text : new String[] {"Z2F0dW4=", "Z2F0dW4", "Z2F0dW4.", "Z2F0\\ndW4=\\n", " Z2\\tF0dW4 = "}) {
            assertThat(answer("strings", "{\"inputs\":[{\"b64\":\"" + text + "\"}]}"))
                    .as(text)
                    .isEqualTo(expected);
        }
        assertThat(answer("strings", "{\"inputs\":[{\"b64\":\" \"}]}"))
                .isEqualTo(answer("strings", "{\"inputs\":[\"\"]}"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"half", "bfloat16", "uint16"})
    void shouldRefuseDatatypesWithoutAFormInJson(String model) {
        assertThat(failure(501, model, "{\"inputs\":[1.5]}"))
                .isEqualTo("Conversion of JSON Value: 1.5 to type: " + model);
        assertThat(mistake(model, "{\"instances\":[1.5]}"))
                .isEqualTo("Failed to process element: 0 of 'instances' list. Error: UNIMPLEMENTED:"
                        + " Conversion of JSON Value: 1.5 to type: " + model);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "[1,[2]]; Encountered list at unexpected level: 1 expected < 1",
                "[[1],2]; JSON Value: 2 found at incorrect level: 2 in the JSON DOM. Expected at level: 2",
                "[[1,2],[3]]; Encountered list at unexpected size: 1 at level: 1 expected size: 2",
                "[[1],[2,3]]; Encountered list at unexpected size: 2 at level: 1 expected size: 1",
                "[[[1,2]],[[true,2],[3,4]]]; Encountered list at unexpected size: 2 at level: 1 expected size: 1",
                "[[],[1]]; Encountered list at unexpected size: 1 at level: 1 expected size: 0",
                "[[1,2],[3,[4],5]]; Encountered list at unexpected size: 3 at level: 1 expected size: 2",
                "[[1],[]]; Encountered list at unexpected size: 0 at level: 1 expected size: 1"
            })
    void shouldRefuseRaggedLists(String inputs, String expected) {
        assertThat(mistake("deep", "{\"inputs\":" + inputs + "}")).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "[[1,2],[3]]; 1 of 'instances' list. Error: INVALID_ARGUMENT: Expecting tensor size: 2 but got: 1",
                "[[[1],[2]],[[1,2]]]; 1 of 'instances' list. Error: INVALID_ARGUMENT: Expecting shape [2,1] but got:"
                        + " [1,2]",
                "[[1],[true]]; 1 of 'instances' list. Error: INVALID_ARGUMENT: JSON Value: true Type: True is not of"
                        + " expected type: float",
                "[[[1,2]],[[[1,2]]]]; 1 of 'instances' list. Error: INVALID_ARGUMENT: Expecting shape [1,2] but got:"
                        + " [1,1,2]",
                "[4,[4]]; 1 of 'instances' list. Error: INVALID_ARGUMENT: Expecting shape [] but got: [1]",
                "[[1],[[1],2]]; 1 of 'instances' list. Error: INVALID_ARGUMENT: JSON Value: 2 found at incorrect level:"
                        + " 2 in the JSON DOM. Expected at level: 2"
            })
    void shouldRefuseRowsThatDiffer(String instances, String expected) {
        assertThat(mistake("deep", "{\"instances\":" + instances + "}"))
                .isEqualTo("Failed to process element: " + expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '\'',
            value = {
                "scalars; {\"instances\":5}; JSON Value: {\\n    \\\"instances\\\": 5\\n} Expecting ''instances'' to be an list/array",
                "scalars; {\"instances\":[]}; JSON Value: {\\n    \\\"instances\\\": []\\n} No values in ''instances'' array",
                "scalars; {}; Missing ''inputs'' or ''instances'' key",
                "scalars; {\"signature_name\":\"x\",\"inputs\":1}; Serving signature name: \\\"x\\\" not found in signature def",
                "scalars; {\"signature_name\":null,\"inputs\":1}; JSON Value: {\\n    \\\"signature_name\\\": null,\\n    \\\"inputs\\\": 1\\n} not formatted correctly. ''signature_name'' key must be a string value.",
                "scalars; {\"signature_name\":7}; JSON Value: {\\n    \\\"signature_name\\\": 7\\n} not formatted correctly. ''signature_name'' key must be a string value.",
                "scalars; [1, 2.5, null]; JSON Value: [1, 2.5, null] Is not object",
                "scalars; {\"inputs\":[1]; 'JSON Parse error: Missing a comma or ''}'' after an object member. at offset: 13'",
                "scalars; ''; JSON Parse error: The document is empty",
                "pair; {\"instances\":[1]}; 'instances is a plain list, but expecting list of objects as multiple input tensors required as per tensorinfo_map'",
                "pair; {\"inputs\":[1]}; 'inputs is a plain value/list, but expecting an object as multiple input tensors required as per tensorinfo_map'",
                "pair; {\"inputs\":{\"IN0\":[]}}; Missing named input: IN1 in ''inputs'' object.",
                "pair; {\"instances\":[{\"IN0\":[1,2],\"IN1\":3},[1]]}; Expecting object but got list at item 1 of input list",
                "scalars; {\"instances\":[1,{\"IN0\":2}]}; Expecting value/list but got object at item 1 of input list",
                "pair; {\"instances\":[{\"IN0\":[1,2]}]}; 'Failed to process element: 0 of ''instances'' list. JSON object: {\\n    \\\"IN0\\\": [1, 2]\\n} keys must be equal to: IN0,IN1'",
                "pair; {\"instances\":[{\"IN0\":[1,2],\"IN1\":3},{\"IN0\":[[1,2]],\"IN1\":3}]}; 'Failed to process element: 1 key: IN0 of ''instances'' list. Error: INVALID_ARGUMENT: Expecting shape [2] but got: [1,2]'",
                "pair; {\"instances\":[{\"IN0\":[1,2],\"IN1\":[3]},{\"IN0\":[1,2],\"IN1\":[3,4]}]}; 'Failed to process element: 1 key: IN1 of ''instances'' list. Error: INVALID_ARGUMENT: Expecting tensor size: 1 but got: 2'",
                "pair; {\"instances\":[{\"no\":1}]}; 'Failed to process element: 0 key: no of ''instances'' list. Error: INVALID_ARGUMENT: JSON object: does not have named input: no'",
                "pair; {\"instances\":[{\"IN1\":\"x\"}]}; 'Failed to process element: 0 key: IN1 of ''instances'' list. Error: INVALID_ARGUMENT: JSON Value: \\\"x\\\" Type: String is not of expected type: int32'"
            })
    void shouldRefuseWrongRequests(String model, String json, String expected) {
        assertThat(mistake(model, json)).isEqualTo(expected.replace("''", "'"));
    }

    @Test
    void shouldRefuseRowsAndColumnsAtOnce() {
        assertThat(mistake("scalars", "{\"inputs\":1,\"instances\":[2]}"))
                .isEqualTo(
                        "JSON Value: {\\n    \\\"inputs\\\": 1,\\n    \\\"instances\\\": [2]\\n} Not formatted correctly"
                                + " expecting only one of 'inputs' or 'instances' keys to exist ");
    }

    @Test
    void shouldCutValuesThatAreLong() {
        assertThat(mistake("scalars", "[\"" + "x".repeat(1_000_000) + "\"]"))
                .isEqualTo("JSON Value: [\\\"" + "x".repeat(254) + " Is not object");
    }

    @Test
    void shouldRefuseALongRaggedListAndDeepNesting() {
        String ragged = "{\"inputs\":[[1,2]" + ",[1]".repeat(200_000) + "]}";
        assertThat(mistake("grid", ragged))
                .isEqualTo("Encountered list at unexpected size: 1 at level: 1 expected size: 2");
        assertThat(mistake("scalars", "[".repeat(100_000)))
                .isEqualTo("JSON nesting depth exceeds maximum allowed limit (65536)");
    }

    @Test
    void shouldRefuseNestingThatNoTensorHas() {
        for (String key : new String[] {"inputs", "instances"}) {
            for (int levels : new int[] {101, 150, 60_000}) {
                String deep = "{\"" + key + "\":[" + "[".repeat(levels) + "]".repeat(levels) + "]}";
                assertThat(mistake("scalars", deep)).contains("JSON nesting depth exceeds maximum allowed limit (100)");
            }
        }
    }

    @Test
    void shouldNotMindDeepNestingThatNobodyReads() {
        String deep = "[{\"a\":".repeat(500) + "1" + "}]".repeat(500);
        assertThat(answer("scalars", "{\"other\":" + deep + ",\"inputs\":[7]}")).contains("7.0");
        assertThat(answer("scalars", "{\"inputs\":{\"IN0\":[7],\"other\":" + deep + "}}"))
                .contains("7.0");
        assertThat(mistake("scalars", "{\"instances\":[1],\"inputs\":" + "[".repeat(500) + "]".repeat(500) + "}"))
                .startsWith("JSON Value: {\\n    \\\"instances\\\": [1],\\n    \\\"inputs\\\": [[[[")
                .endsWith("[ Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist ");
        assertThat(mistake("scalars", "{\"other\":" + deep + " x}")).contains("Missing a comma or '}'");
        assertThat(mistake("scalars", "{\"signature_name\":" + "[".repeat(60_000) + "]".repeat(60_000) + "}"))
                .endsWith("not formatted correctly. 'signature_name' key must be a string value.");
    }

    @Test
    void shouldReadDocumentsBehindAByteOrderMark() {
        assertThat(answer("scalars", "\uFEFF{\"inputs\":[7]}")).contains("7.0");
        assertThat(mistake("scalars", "\uFEFF[1]")).isEqualTo("JSON Value: [1] Is not object");
        assertThat(mistake("scalars", "\uFEFF")).isEqualTo("JSON Parse error: The document is empty. at offset: 3");
        assertThat(mistake("scalars", "\uFEFF{\"inputs\":[true] x}"))
                .isEqualTo("JSON Parse error: Missing a comma or '}' after an object member. at offset: 20");
    }

    @Test
    void shouldFindWhatIsNoJsonBeforeAnythingElse() {
        String expected = "JSON Parse error: Missing a comma or '}' after an object member. at offset: ";
        assertThat(failure(400, "none", "{\"inputs\":[true] x}")).isEqualTo(expected + "17");
        assertThat(mistake("scalars", "{\"inputs\":[true] x}")).isEqualTo(expected + "17");
        assertThat(mistake("scalars", "{\"instances\":[[1],[true]] x}")).isEqualTo(expected + "26");
        assertThat(mistake("scalars", "{\"inputs\":[1}"))
                .isEqualTo("JSON Parse error: Missing a comma or ']' after an array element. at offset: 12");
    }

    @Test
    void shouldRefuseBodiesThatGrowBeyondTheLimit() throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write("{\"inputs\":[7]}".getBytes(StandardCharsets.UTF_8));
            byte[] blanks = new byte[1 << 16];
            Arrays.fill(blanks, (byte) ' ');
            for (int i = 0; i < 512; i++) {
                gzip.write(blanks);
            }
        }

        assertThat(sendGzip(compressed.toByteArray()).statusCode()).isEqualTo(400);
        for (int length = 0; length < 30; length++) {
            assertThat(sendGzip(Arrays.copyOf(compressed.toByteArray(), length)).body())
                    .isEqualTo("{\n    \"error\": \"JSON Parse error: The document is empty\"\n}");
        }
    }

    @Test
    void shouldSayThatAModelIsMissing() {
        assertThat(failure(404, "none", "{}")).isEqualTo("Servable not found for request: Latest(none)");
        assertThat(failure(404, "rows/versions/07", "{}"))
                .isEqualTo("Servable not found for request: Specific(rows, 7)");
        assertThat(failure(400, "rows/labels/stable", "{}")).isEqualTo("Unrecognized servable version label: stable");
        assertThat(failure(400, "none", "")).isEqualTo("JSON Parse error: The document is empty");
    }

    @Test
    void shouldIgnoreWhatFollowsTheDocument() {
        assertThat(answer("scalars", "{\"inputs\":[1]} and more")).contains("1.0");
    }

    @Test
    void shouldTakeCompressedBodies() {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(compressed)) {
            gzip.write("{\"inputs\":[7]}".getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        assertThat(sendGzip(compressed.toByteArray()).body()).contains("7.0");
        HttpResponse<String> damaged = sendGzip(new byte[] {1, 2, 3});
        assertThat(damaged.statusCode()).isEqualTo(400);
        assertThat(damaged.body()).isEqualTo("{\n    \"error\": \"JSON Parse error: The document is empty\"\n}");
    }

    private static HttpResponse<String> sendGzip(byte[] body) {
        return edge.send(edge.request("/v1/models/scalars:predict")
                .header("Content-Encoding", "x-gzip")
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build());
    }
}
