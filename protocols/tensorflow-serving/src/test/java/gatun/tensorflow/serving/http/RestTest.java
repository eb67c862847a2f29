// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import gatun.tensorflow.serving.TensorFlowSettings;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RestTest {
    private static final String EXAMPLES = "{\"examples\":[{\"x\":1.5},{\"x\":2.5}]}";

    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) throws IOException {
        ListenerUnderTest.writeModel(repository, "m", 0, "TYPE_FP32 [ -1 ]");
        ListenerUnderTest.writeModel(repository, "über", 0, "TYPE_FP32 [ -1 ]");
        writeModel(repository, "classify", "inputs", "classes");
        writeModel(repository, "regress", "inputs", "outputs");
        edge = TensorFlowTestServer.start(
                repository,
                new TensorFlowSettings(true, Duration.ofSeconds(30), false, false, false, true, Optional.empty()));
    }

    private static void writeModel(Path repository, String name, String input, String output) throws IOException {
        Files.createDirectories(repository.resolve(name).resolve("1"));
        Files.writeString(
                repository.resolve(name).resolve("config.pbtxt"),
                "backend: \"identity\" input { name: \"" + input + "\" data_type: TYPE_STRING dims: [ -1 ] }"
                        + " output { name: \"" + output + "\" data_type: TYPE_STRING dims: [ -1 ] }");
    }

    @AfterAll
    static void stop() {
        edge.close();
    }

    @AfterEach
    void shouldHaveGivenEveryBufferBack() {
        edge.awaitNothingLent();
    }

    private static HttpResponse<String> send(String method, String path) {
        return edge.send(edge.request(path)
                .method(method, HttpRequest.BodyPublishers.ofString("{\"instances\":[1]}"))
                .build());
    }

    private static String error(String text) {
        return "{\n    \"error\": \"" + text + "\"\n}";
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/models/m:predict",
                "/v1/MODELS/m/Versions/1:predict",
                "/V1/models/m:predict",
                "/v1/models/m/versions/001:predict",
                "/v1/models/%6D:predict",
                "/v1/models/%C3%BCber:predict"
            })
    void shouldFindModels(String path) {
        HttpResponse<String> response = send("POST", path);

        assertThat(response.body()).isEqualTo("{\n    \"predictions\": [1.0\n    ]\n}");
        assertThat(response.headers().firstValue("Access-Control-Allow-Origin")).hasValue("*");
        assertThat(response.headers().firstValue("Access-Control-Allow-Methods"))
                .hasValue("POST, GET");
        assertThat(response.headers().firstValue("Access-Control-Allow-Headers"))
                .hasValue("Content-Type");
    }

    @ParameterizedTest
    @CsvSource({
        "POST, /v1/models/m:Predict",
        "POST, /v1/models/m:predict?x=1",
        "POST, /v1/models/m",
        "POST, /v1/models/m/versions/x:predict",
        "GET, /v1/models/m:predict",
        "GET, /v1/models/m?x",
        "GET, /v1/other",
        "GET, /V1/other",
        "PUT, /v1/models/m:predict",
        "DELETE, /v1/models/m",
        "PATCH, /v1/models/m",
        "GET, /v1/models/m/labels/a:b",
        "POST, /v1/models/m/versions/1/metadata",
        "POST, /v1/models/:predict"
    })
    void shouldRefuseOtherPathsAndMethods(String method, String path) {
        HttpResponse<String> response = send(method, path);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).isEqualTo(error("Malformed request: " + method + " " + path));
        assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
    }

    /** Its status says nothing of methods, and stays, since clients know it. */
    @ParameterizedTest
    @CsvSource({
        "PUT, /v1/models/m:predict, POST",
        "POST, /V1/Models/m/versions/1/metadata, GET",
        "HEAD, /v1/models/m, GET"
    })
    void shouldTellTheMethodsOfAPath(String method, String path, String allowed) {
        HttpResponse<String> response = send(method, path);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.headers().firstValue("Allow")).hasValue(allowed);
    }

    @Test
    void shouldTellKServesClientsWhetherItIsLive(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "m", 0, "TYPE_FP32 [ -1 ]");
        try (ListenerUnderTest stopping = TensorFlowTestServer.start(repository, TensorFlowSettings.STANDARD)) {
            HttpResponse<String> live = stopping.get("/");
            assertThat(live.statusCode()).isEqualTo(200);
            assertThat(live.body()).isEqualTo("{\"status\":\"alive\"}");
            assertThat(live.headers().firstValue("Content-Type")).hasValue("application/json");
            assertThat(stopping.post("/", "").statusCode()).isEqualTo(405);

            stopping.announceStop();
            assertThat(stopping.get("/").statusCode()).isEqualTo(503);
        }
    }

    @Test
    void shouldNotAnswerWhatIsOutsideItsPaths() {
        assertThat(send("POST", "/v1x/models/m:predict").statusCode()).isEqualTo(404);
        assertThat(send("POST", "/V2/models/m:predict").statusCode()).isEqualTo(404);
    }

    @Test
    void shouldRefuseVersionsThatNoNumberHas() {
        HttpResponse<String> response = send("POST", "/v1/models/m/versions/9223372036854775808:predict");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).isEmpty();
        assertThat(send("POST", "/v1/models/m/versions/9223372036854775807:predict")
                        .body())
                .isEqualTo(error("Servable not found for request: Specific(m, 9223372036854775807)"));
    }

    @ParameterizedTest
    @CsvSource({"http://a.example, 200", "https://a.example, 200", "null, 400"})
    void shouldAnswerBrowsersThatAsk(String origin, int status) {
        HttpResponse<String> response = edge.send(edge.request("/v1/models/m:predict")
                .header("Origin", origin)
                .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                .build());

        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(response.body()).isEmpty();
        assertThat(response.headers().firstValue("Content-Type")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/models/m", "/v1/models/m/versions/1", "/v1/models/m/labels/any"})
    void shouldTellTheStatesOfVersions(String path) {
        assertThat(edge.get(path).body()).isEqualTo("""
                        {
                         "model_version_status": [
                          {
                           "version": "1",
                           "state": "AVAILABLE",
                           "status": {
                            "error_code": "OK",
                            "error_message": ""
                           }
                          }
                         ]
                        }
                        """);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "404; /v1/models/none; Could not find any versions of model none",
                "404; /v1/models/m/versions/07; Could not find version 7 of model m",
                "400; /v1/models; Missing model name in request.",
                "404; /v1/models/none/metadata; Servable not found for request: Latest(none)",
                "404; /v1/models/m/versions/7/metadata; Servable not found for request: Specific(m, 7)",
                "400; /v1/models/m/labels/L/metadata; Unrecognized servable version label: L"
            })
    void shouldSayWhatItCannotTell(int status, String path, String expected) {
        HttpResponse<String> response = edge.get(path);

        assertThat(response.body()).isEqualTo(error(expected));
        assertThat(response.statusCode()).isEqualTo(status);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "404; none; Servable not found for request: Latest(none)",
                "404; m/versions/07; Servable not found for request: Specific(m, 7)",
                "400; m/labels/L; Unrecognized servable version label: L",
                "400; none/labels/%4C; Unrecognized servable version label: L"
            })
    void shouldSayWhichModelsItDoesNotServe(int status, String model, String expected) {
        for (String verb : new String[] {"predict", "classify", "regress"}) {
            HttpResponse<String> response = edge.post("/v1/models/" + model + ":" + verb, EXAMPLES);

            assertThat(response.body()).as(verb).isEqualTo(error(expected));
            assertThat(response.statusCode()).isEqualTo(status);
        }
    }

    @Test
    void shouldWriteTraces(@TempDir Path repository) throws IOException {
        ListenerUnderTest.writeModel(repository, "m", 0, "TYPE_FP32 [ -1 ]");
        try (ListenerUnderTest traced = TensorFlowTestServer.start(repository, TensorFlowSettings.STANDARD)) {
            traced.server()
                    .tracing()
                    .change("", Map.of("trace_level", List.of("TIMESTAMPS"), "trace_rate", List.of("1")));
            assertThat(traced.post("/v1/models/m:predict", "{\"instances\":[1]}")
                            .statusCode())
                    .isEqualTo(200);
            assertThat(traced.post("/v1/models/m:predict", "{\"instances\":[true]}")
                            .statusCode())
                    .isEqualTo(400);
        }
        assertThat(Files.readString(ListenerUnderTest.traceFile(repository)))
                .contains("HTTP_RECV_START", "HTTP_RECV_END", "COMPUTE_START", "HTTP_SEND_END")
                .contains("\"id\":1", "\"id\":2");
    }

    @Test
    void shouldTellSignatures() {
        assertThat(edge.get("/v1/models/m/metadata").body()).isEqualTo("""
                        {
                        "model_spec":{
                         "name": "m",
                         "signature_name": "",
                         "version": "1"
                        }
                        ,
                        "metadata": {"signature_def": {
                         "signature_def": {
                          "serving_default": {
                           "inputs": {
                            "IN0": {
                             "dtype": "DT_FLOAT",
                             "tensor_shape": {
                              "dim": [
                               {
                                "size": "-1",
                                "name": ""
                               }
                              ],
                              "unknown_rank": false
                             },
                             "name": "IN0"
                            }
                           },
                           "outputs": {
                            "OUT0": {
                             "dtype": "DT_FLOAT",
                             "tensor_shape": {
                              "dim": [
                               {
                                "size": "-1",
                                "name": ""
                               }
                              ],
                              "unknown_rank": false
                             },
                             "name": "OUT0"
                            }
                           },
                           "method_name": "tensorflow/serving/predict",
                           "defaults": {}
                          }
                         }
                        }
                        }
                        }
                        """);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "classify:classify; " + EXAMPLES + "; Expected Tensor shape: [batch_size num_classes] but got [2]",
                "regress:regress; " + EXAMPLES + "; Expected output Tensor of DT_FLOAT.  Got: DT_STRING",
                "m:classify; {}; JSON Value: {} When method is classify, key 'examples' is expected and was not found",
                "none:classify; " + EXAMPLES + "; Servable not found for request: Latest(none)",
                "m:classify; {\"signature_name\":\"x\",\"examples\":[{}]}; No signature was found with the name: x"
            })
    void shouldRunExamples(String path, String json, String expected) {
        assertThat(edge.post("/v1/models/" + path, json).body()).isEqualTo(error(expected));
    }

    @Test
    void shouldRefuseSignaturesThatTakeNoExamples() {
        assertThat(edge.post("/v1/models/m:classify", EXAMPLES).body())
                .contains("No classification inputs found in SignatureDef: ");
        assertThat(edge.post("/v1/models/m:regress", EXAMPLES).body())
                .contains("No regression inputs found in SignatureDef: ");
        assertThat(edge.post("/v1/models/classify:regress", EXAMPLES).body())
                .contains("No regression outputs found in SignatureDef: ");
        assertThat(edge.post("/v1/models/regress:classify", EXAMPLES).body())
                .contains("Expected classification signature outputs to contain at least one of");
    }
}
