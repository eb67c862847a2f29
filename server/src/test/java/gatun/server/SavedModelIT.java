package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.bindings.LibraryCache;
import gatun.protocol.tensorflow.Example;
import gatun.protocol.tensorflow.Feature;
import gatun.protocol.tensorflow.Features;
import gatun.protocol.tensorflow.FloatList;
import gatun.protocol.tensorflow.serving.ExampleList;
import gatun.protocol.tensorflow.serving.Input;
import gatun.protocol.tensorflow.serving.ModelSpec;
import gatun.protocol.tensorflow.serving.PredictionServiceGrpc;
import gatun.protocol.tensorflow.serving.Regression;
import gatun.protocol.tensorflow.serving.RegressionRequest;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The models of {@code examples/tensorflow} on the real server, with TensorFlow and without. */
class SavedModelIT {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @TempDir
    Path folder;

    private static Path models() {
        return ServerProcess.root().resolve("examples/tensorflow/models");
    }

    private static String post(ServerProcess server, String path, String body)
            throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                            HttpRequest.newBuilder(server.http(path))
                                    .timeout(LIMIT)
                                    .POST(HttpRequest.BodyPublishers.ofString(body))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }

    /** What two examples with x = 2 and x = 4 come to. */
    private static List<Float> regress(ServerProcess server) throws InterruptedException {
        try (GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            return PredictionServiceGrpc.newBlockingStub(grpc.channel())
                    .withDeadlineAfter(LIMIT.toSeconds(), TimeUnit.SECONDS)
                    .regress(RegressionRequest.newBuilder()
                            .setModelSpec(ModelSpec.newBuilder()
                                    .setName("half_plus_two")
                                    .setSignatureName("regress_x_to_y"))
                            .setInput(Input.newBuilder()
                                    .setExampleList(ExampleList.newBuilder()
                                            .addExamples(example(2))
                                            .addExamples(example(4))))
                            .build())
                    .getResult()
                    .getRegressionsList()
                    .stream()
                    .map(Regression::getValue)
                    .toList();
        }
    }

    private static Example example(float x) {
        Feature feature = Feature.newBuilder()
                .setFloatList(FloatList.newBuilder().addValue(x))
                .build();
        return Example.newBuilder()
                .setFeatures(Features.newBuilder().putFeature("x", feature))
                .build();
    }

    @Test
    void shouldServeTheOthersAndSayHowToInstallTensorFlow() throws Exception {
        Map<String, String> environment = Map.of("GATUN_CACHE", folder.toString());
        try (ServerProcess server = ServerProcess.launch(models(), environment, "--exit-on-error=false")) {
            assertThat(post(server, "/v2/repository/index", ""))
                    .contains("\"name\":\"half_plus_two\",\"version\":\"1\",\"state\":\"UNAVAILABLE\"")
                    .contains("TensorFlow is not installed; install it with './gatun install tensorflow'");
        }
    }

    @Test
    void shouldAnswerClientsOfTritonAndOfTensorFlowServing() throws Exception {
        assumeThat(LibraryCache.ofUser().folder().resolve("tensorflow"))
                .as("TensorFlow's library, installed by './gatun install tensorflow'")
                .isDirectory();
        try (ServerProcess server = ServerProcess.launch(models())) {
            assertThat(post(
                            server,
                            "/v2/models/triton_half_plus_two/infer",
                            "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[2,1],\"data\":[1,2]}]}"))
                    .contains("\"data\":[2.5,3.0]");
            assertThat(post(server, "/v1/models/half_plus_two:predict", "{\"instances\":[1.0,2.0,5.0]}"))
                    .isEqualTo("{\n    \"predictions\": [2.5, 3.0, 4.5\n    ]\n}");
            assertThat(post(
                            server,
                            "/v1/models/strings:predict",
                            "{\"signature_name\":\"echo\",\"instances\":[\"one\",{\"b64\":\"dHdv\"}]}"))
                    .isEqualTo("{\n    \"predictions\": [\"one\", \"two\"\n    ]\n}");
            assertThat(regress(server)).containsExactly(3f, 4f);
            assertThat(post(server, "/v1/models/counter:predict", "{\"inputs\":[2.0]}"))
                    .contains("2.0");
            assertThat(post(server, "/v1/models/counter:predict", "{\"inputs\":[3.0]}"))
                    .contains("5.0");
        }
    }
}
