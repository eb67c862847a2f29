// SPDX-License-Identifier: Apache-2.0
package gatun.it.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import com.google.gson.JsonArray;
import com.google.gson.JsonParser;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.testing.FreePorts;
import gatun.testing.RecordFiles;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.Example;
import gatun.wire.tensorflow.Feature;
import gatun.wire.tensorflow.FloatList;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.serving.ClassificationRequest;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.PredictionLog;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** TensorFlow Serving's REST API of the real server.process(), with an ONNX model that adds and subtracts. */
@Timeout(120)
class TensorFlowRestIT {
    private static final String REQUEST =
            "{\"instances\":[{\"INPUT0\":" + sixteen(3) + ",\"INPUT1\":" + sixteen(1) + "}]}";

    @TempDir
    static Path repository;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(TensorFlowRestIT::start);

    private static final HttpApi api = server.http();

    private static ServerProcess start() throws Exception {
        model("simple", "");
        warmUp("simple");
        model("patient", "dynamic_batching { preferred_batch_size: [ 4 ] max_queue_delay_microseconds: 60000000 }");
        digits();
        return FreePorts.start(ports -> ServerProcess.launch(
                repository, "--rest_api_port=" + ports.getAsInt(), "--rest_api_timeout_in_ms=5000"));
    }

    private static void model(String name, String more) throws IOException {
        Path simple = ServerProcess.exampleModels().resolve("simple");
        Path version = Files.createDirectories(repository.resolve(name).resolve("1"));
        Files.copy(simple.resolve("1/model.onnx"), version.resolve("model.onnx"));
        String config = Files.readString(simple.resolve("config.pbtxt")).replace("name: \"simple\"", "");
        Files.writeString(repository.resolve(name).resolve("config.pbtxt"), config + more);
    }

    /** Records a request beside the model's file. */
    private static void warmUp(String model) throws IOException {
        PredictionLog.Builder log = PredictionLog.newBuilder();
        PredictRequest.Builder request = log.getPredictLogBuilder().getRequestBuilder();
        TensorProto.Builder ones =
                TensorProto.newBuilder().setDtype(DataType.DT_INT32).addIntVal(1);
        ones.getTensorShapeBuilder().addDimBuilder().setSize(1);
        ones.getTensorShapeBuilder().addDimBuilder().setSize(16);
        request.putInputs("INPUT0", ones.build()).putInputs("INPUT1", ones.build());
        Path folder = Files.createDirectories(repository.resolve(model).resolve("1/assets.extra"));
        Files.write(
                folder.resolve("tf_serving_warmup_requests"),
                RecordFiles.of(log.build().toByteArray()));
    }

    /** The example model, whose configuration says what its classes are. */
    private static void digits() throws IOException {
        Path digits = ServerProcess.exampleModels().resolve("digits");
        Files.createDirectories(repository.resolve("digits/1"));
        for (String file : List.of("config.pbtxt", "labels.txt", "1/model.onnx")) {
            Files.copy(digits.resolve(file), repository.resolve("digits").resolve(file));
        }
    }

    private static String sixteen(int value) {
        return "[" + String.join(", ", Collections.nCopies(16, Integer.toString(value))) + "]";
    }

    private static HttpResponse<String> atRestPort(HttpRequest.Builder request, String path) {
        return api.send(
                request.uri(URI.create("http://localhost:" + server.process().ready("rest.port") + path)),
                HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void shouldWarmModelsUpWithRecordedRequests() {
        assertThat(server.process().log()).contains("Model 'simple' version 1 answered 1 warm-up requests");
    }

    @Test
    void shouldPredictOnBothPorts() {
        String expected = "{\n    \"predictions\": [\n        {\n            \"OUTPUT0\": " + sixteen(4)
                + ",\n            \"OUTPUT1\": " + sixteen(2) + "\n        }\n    ]\n}";

        assertThat(api.post("/v1/models/simple:predict", REQUEST).body()).isEqualTo(expected);
        assertThat(atRestPort(
                                HttpRequest.newBuilder().POST(HttpRequest.BodyPublishers.ofString(REQUEST)),
                                "/v1/models/simple/versions/1:predict")
                        .body())
                .isEqualTo(expected);
    }

    @Test
    void shouldSpeakNothingElseOnItsOwnPort() {
        assertThat(atRestPort(HttpRequest.newBuilder(), "/v1/models/simple").body())
                .contains("\"AVAILABLE\"");
        assertThat(atRestPort(HttpRequest.newBuilder(), "/v2/health/live").statusCode())
                .isEqualTo(404);
    }

    @Test
    void shouldRefuseAMillionListsOfWhichOneIsLonger() {
        String rows = "[1]" + ",[1]".repeat(999_998) + ",[1,2]";
        HttpResponse<String> response =
                api.post("/v1/models/simple:predict", "{\"inputs\":{\"INPUT0\":[" + rows + "],\"INPUT1\":[[1]]}}");
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body())
                .isEqualTo(
                        "{\n    \"error\": \"Encountered list at unexpected size: 2 at level: 1 expected size: 1\"\n}");
    }

    @Test
    void shouldGiveUpAModelThatTakesTooLong() {
        HttpResponse<String> answer = api.post("/v1/models/patient:predict", REQUEST);

        assertThat(answer.statusCode()).isEqualTo(504);
        assertThat(answer.body()).contains("5000 ms");
    }

    @Test
    void shouldClassifyByAModelThatKnowsNothingOfExamples() throws Exception {
        List<Float> ink = IntStream.range(0, 28 * 28)
                .mapToObj(i -> i % 28 == 14 ? 1f : 0f)
                .toList();
        HttpResponse<String> answer = api.post(
                "/v1/models/digits:classify", "{\"examples\":[{\"image\":" + ink + "},{\"image\":" + ink + "}]}");
        Example.Builder example = Example.newBuilder();
        example.getFeaturesBuilder()
                .putFeature(
                        "image",
                        Feature.newBuilder()
                                .setFloatList(FloatList.newBuilder().addAllValue(ink))
                                .build());
        ClassificationRequest.Builder request = ClassificationRequest.newBuilder();
        request.getModelSpecBuilder().setName("digits").setSignatureName("classify");
        request.getInputBuilder().getExampleListBuilder().addExamples(example);
        try (GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            List<gatun.wire.tensorflow.serving.Class> classes = PredictionServiceGrpc.newBlockingStub(grpc.channel())
                    .withDeadlineAfter(20, TimeUnit.SECONDS)
                    .classify(request.build())
                    .getResult()
                    .getClassifications(0)
                    .getClassesList();

            assertThat(classes)
                    .extracting(gatun.wire.tensorflow.serving.Class::getLabel)
                    .containsExactly("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine");
            JsonArray results =
                    JsonParser.parseString(answer.body()).getAsJsonObject().getAsJsonArray("results");
            assertThat(results).hasSize(2);
            for (int i = 0; i < classes.size(); i++) {
                JsonArray entry = results.get(1).getAsJsonArray().get(i).getAsJsonArray();
                assertThat(entry.get(0).getAsString()).isEqualTo(classes.get(i).getLabel());
                assertThat(entry.get(1).getAsFloat()).isCloseTo(classes.get(i).getScore(), offset(1e-6f));
            }
        }
        assertThat(api.get("/v1/models/digits/metadata").body())
                .contains("\"classify\"", "\"tensorflow/serving/classify\"", "\"name\": \"probabilities\"");
    }
}
