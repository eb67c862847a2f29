// SPDX-License-Identifier: Apache-2.0
package gatun.it.trees;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.protobuf.ByteString;
import gatun.bindings.LibraryCache;
import gatun.bindings.LightGbm;
import gatun.bindings.XGBoost;
import gatun.it.harness.ExampleModels;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** XGBoost's and LightGBM's models on the real server, beside what their own Python packages answer. */
@Timeout(240)
class TreesIT {
    private static final String INPUT =
            "max_batch_size: 64 input [ { name: \"input__0\" data_type: TYPE_FP32 dims: [ 6 ] } ]\n";

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension served = ServerExtension.of(TreesIT::open);

    private static final HttpApi http = served.http();

    private static final GrpcClient grpc = served.grpc();

    private static ServerProcess open() throws Exception {
        requireLibraries();
        model(
                "classes",
                "xgb_binary",
                output("output__0", "TYPE_FP32", "1")
                        + parameters("model_type", "xgboost_json", "output_class", "true", "threshold", "0.7")
                        + parameters("storage_type", "AUTO", "algo", "ALGO_AUTO", "blocks_per_sm", "0"));
        model(
                "probabilities",
                "xgb_binary",
                output("output__0", "TYPE_FP32", "2")
                        + output("treeshap_output", "TYPE_FP32", "7")
                        + output("leaf_output", "TYPE_INT32", "5")
                        + parameters("model_type", "xgboost_json", "is_classifier", "true", "predict_proba", "true"));
        model(
                "largest",
                "xgb_classes",
                output("output__0", "TYPE_FP32", "1")
                        + output("treeshap_output", "TYPE_FP32", "3, 7")
                        + parameters("model_type", "xgboost_ubj", "output_class", "true"));
        model(
                "softmax",
                "xgb_choice",
                output("output__0", "TYPE_FP32", "3")
                        + parameters("model_type", "xgboost_json", "output_class", "true", "predict_proba", "true"));
        model(
                "doubles",
                "lgb_classes",
                output("output__0", "TYPE_FP64", "3")
                        + output("treeshap_output", "TYPE_FP64", "21")
                        + output("leaf_output", "TYPE_INT32", "15")
                        + parameters("model_type", "lightgbm", "output_class", "false"));
        model(
                "apart",
                "lgb_regression",
                output("output__0", "TYPE_FP32", "1") + parameters("model_type", "lightgbm", "isolation", "process"));
        model("too_wide", "xgb_binary", output("output__0", "TYPE_FP32", "5"));
        model("other_type", "xgb_binary", output("output__0", "TYPE_FP32", "1") + parameters("model_type", "gbm"));
        model("no_shap", "lgb_linear", output("treeshap_output", "TYPE_FP32", "7"));
        cut("cut_ubj", "xgb_classes");
        cut("cut_json", "xgb_categorical");
        cut("cut_text", "lgb_forest");
        cut("cut_binary", "xgb_dart_binary_format");
        Files.createFile(ExampleModels.version(folder, "treelite").resolve("checkpoint.tl"));
        return ExampleForests.ALL.serve(folder);
    }

    private static void requireLibraries() {
        LibraryCache cache = LibraryCache.ofUser();
        assumeThat(XGBoost.installed(cache)).as("XGBoost's library").isPresent();
        assumeThat(LightGbm.installed(cache)).as("LightGBM's library").isPresent();
    }

    private static String output(String name, String type, String dims) {
        return "output [ { name: \"" + name + "\" data_type: " + type + " dims: [ " + dims + " ] } ]\n";
    }

    private static String parameters(String... namesAndValues) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            text.append("parameters [ { key: \"")
                    .append(namesAndValues[i])
                    .append("\" value: { string_value: \"")
                    .append(namesAndValues[i + 1])
                    .append("\" } } ]\n");
        }
        return text.toString();
    }

    private static void model(String name, String example, String config) throws IOException {
        ExampleForests.ALL.copy(example, folder, name, "backend: \"fil\"\n" + INPUT + config);
    }

    private static void cut(String name, String example) throws IOException {
        Path file = ExampleForests.ALL.file(example);
        byte[] whole = Files.readAllBytes(file);
        Files.write(
                ExampleModels.version(folder, name).resolve(file.getFileName()),
                Arrays.copyOf(whole, whole.length / 2));
    }

    static List<String> names() throws IOException {
        return ExampleForests.ALL.names();
    }

    private static ModelInferRequest request(String model, double[]... rows) {
        return ModelInferRequest.newBuilder()
                .setModelName(model)
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName("input__0")
                        .setDatatype("FP32")
                        .addShape(rows.length)
                        .addShape(rows[0].length))
                .addRawInputContents(ByteString.copyFrom(ExampleForests.bytes(ExampleForests.floats(rows))))
                .build();
    }

    private static ModelInferResponse ask(String model) throws IOException {
        return grpc.service().modelInfer(request(model, ExampleForests.rows()));
    }

    private static float[] floats(ModelInferResponse response, int output) {
        return ExampleForests.floats(response.getRawOutputContents(output).asReadOnlyByteBuffer());
    }

    @ParameterizedTest
    @MethodSource("names")
    void shouldAnswerJustAsTheLibraryWithoutAConfiguration(String model) throws IOException {
        ModelInferResponse response = ask(model);
        double[][] expected = ExampleForests.expected(model, "value");
        assertThat(floats(response, 0)).containsExactly(ExampleForests.floats(expected));
        List<Long> shape = response.getOutputs(0).getShapeList();
        assertThat(shape)
                .isEqualTo(
                        expected[0].length == 1
                                ? List.of((long) expected.length)
                                : List.of((long) expected.length, (long) expected[0].length));
    }

    @Test
    void shouldChooseTheClassByTheThreshold() throws IOException {
        float[] probabilities = ExampleForests.floats(ExampleForests.expected("xgb_binary", "value"));
        float[] classes = new float[probabilities.length];
        for (int i = 0; i < classes.length; i++) {
            classes[i] = probabilities[i] > 0.7f ? 1 : 0;
        }
        assertThat(classes).contains(0, 1);
        ModelInferResponse response = ask("classes");
        assertThat(floats(response, 0)).containsExactly(classes);
        assertThat(response.getOutputs(0).getShapeList()).containsExactly((long) classes.length);
    }

    @Test
    void shouldGiveBothProbabilitiesContributionsAndLeaves() throws IOException {
        ModelInferResponse response = ask("probabilities");
        float[] second = ExampleForests.floats(ExampleForests.expected("xgb_binary", "value"));
        float[] both = floats(response, 0);
        for (int i = 0; i < second.length; i++) {
            assertThat(both[2 * i]).isEqualTo(1 - second[i]);
            assertThat(both[2 * i + 1]).isEqualTo(second[i]);
        }
        assertThat(floats(response, 1))
                .containsExactly(ExampleForests.floats(ExampleForests.expected("xgb_binary", "contributions")));
        assertThat(leaves(response, 2))
                .isEqualTo(ExampleForests.floats(ExampleForests.expected("xgb_binary", "leaves")));
        assertThat(response.getOutputs(1).getShapeList()).containsExactly(24L, 7L);
    }

    /** As floats, to be compared. */
    private static float[] leaves(ModelInferResponse response, int output) {
        var numbers = response.getRawOutputContents(output)
                .asReadOnlyByteBuffer()
                .order(ByteOrder.LITTLE_ENDIAN)
                .asIntBuffer();
        float[] leaves = new float[numbers.remaining()];
        for (int i = 0; i < leaves.length; i++) {
            leaves[i] = numbers.get(i);
        }
        return leaves;
    }

    @Test
    void shouldChooseTheMostProbableClass() throws IOException {
        double[][] expected = ExampleForests.expected("xgb_classes", "value");
        ModelInferResponse response = ask("largest");
        float[] classes = floats(response, 0);
        for (int i = 0; i < classes.length; i++) {
            double most = Arrays.stream(expected[i]).max().orElseThrow();
            assertThat(expected[i][(int) classes[i]]).isEqualTo(most);
        }
        assertThat(response.getOutputs(1).getShapeList()).containsExactly(24L, 3L, 7L);
        assertThat(floats(response, 1))
                .containsExactly(ExampleForests.floats(ExampleForests.expected("xgb_classes", "contributions")));
    }

    @Test
    void shouldGiveProbabilitiesWhereTheModelChoosesItself() throws IOException {
        double[][] choice = ExampleForests.expected("xgb_choice", "value");
        float[] probabilities = floats(ask("softmax"), 0);
        for (int i = 0; i < choice.length; i++) {
            float sum = 0;
            for (int c = 0; c < 3; c++) {
                assertThat(probabilities[3 * i + c]).isLessThanOrEqualTo(probabilities[3 * i + (int) choice[i][0]]);
                sum += probabilities[3 * i + c];
            }
            assertThat(sum).isCloseTo(1, within(1e-6f));
        }
    }

    @Test
    void shouldGiveDoublesAsLightGbmDoes() throws IOException {
        ModelInferResponse response = ask("doubles");
        assertThat(doubles(response, 0)).containsExactly(all("value"));
        assertThat(doubles(response, 1)).containsExactly(all("contributions"));
        assertThat(leaves(response, 2))
                .isEqualTo(ExampleForests.floats(ExampleForests.expected("lgb_classes", "leaves")));
    }

    private static double[] all(String quantity) throws IOException {
        return Arrays.stream(ExampleForests.expected("lgb_classes", quantity))
                .flatMapToDouble(Arrays::stream)
                .toArray();
    }

    private static double[] doubles(ModelInferResponse response, int output) {
        var numbers = response.getRawOutputContents(output)
                .asReadOnlyByteBuffer()
                .order(ByteOrder.LITTLE_ENDIAN)
                .asDoubleBuffer();
        double[] doubles = new double[numbers.remaining()];
        numbers.get(doubles);
        return doubles;
    }

    @ParameterizedTest
    @ValueSource(strings = {"xgb_classes", "lgb_classes", "xgb_binary", "lgb_binary"})
    void shouldAnswerSingleRowsAtATimeAlike(String model) throws IOException {
        double[][] rows = ExampleForests.rows();
        double[][] expected = ExampleForests.expected(model, "value");
        List<CompletableFuture<float[]>> answers = new ArrayList<>();
        for (double[] row : rows) {
            answers.add(CompletableFuture.supplyAsync(
                    () -> floats(grpc.service().modelInfer(request(model, row)), 0),
                    task -> Thread.ofVirtual().start(task)));
        }
        for (int i = 0; i < rows.length; i++) {
            assertThat(answers.get(i).join()).containsExactly(ExampleForests.floats(new double[][] {expected[i]}));
        }
    }

    @Test
    void shouldRunInAProcessOfItsOwn() throws IOException {
        assertThat(floats(ask("apart"), 0))
                .containsExactly(ExampleForests.floats(ExampleForests.expected("lgb_regression", "value")));
        assertThat(http.metric("gatun_worker_deaths{instance=\"apart_0\",model=\"apart\",reason=\"signal\"}"))
                .isZero();
    }

    @ParameterizedTest
    @CsvSource({"xgb_classes, 0", "doubles, 0", "xgb_classes, 3", "doubles, 1"})
    void shouldReadAndWriteTheClientsMemoryWhereverItIs(String model, int offset) throws IOException {
        boolean doubles = model.equals("doubles");
        byte[] rows = ExampleForests.bytes(ExampleForests.floats(ExampleForests.rows()));
        int outBytes = 24 * 3 * (doubles ? 8 : 4);
        try (SharedObject object = SharedObject.create(4096)) {
            object.write(offset, rows);
            assertThat(http.register("rows", object.key(), "0", "4096").statusCode())
                    .isEqualTo(200);
            String response = http.post("/v2/models/" + model + "/infer", """
                    {"inputs": [{"name": "input__0", "datatype": "FP32", "shape": [24, 6], "parameters": {
                       "shared_memory_region": "rows", "shared_memory_byte_size": %d, "shared_memory_offset": %d}}],
                     "outputs": [{"name": "output__0", "parameters": {"shared_memory_region": "rows",
                       "shared_memory_byte_size": %d, "shared_memory_offset": %d}}]}""".formatted(
                                    rows.length, offset, outBytes, 1024 + offset))
                    .body();
            assertThat(response).contains("\"shape\":[24,3]").doesNotContain("\"data\"");
            var written = object.read(1024 + offset, outBytes).order(ByteOrder.LITTLE_ENDIAN);
            double[] found = new double[24 * 3];
            for (int i = 0; i < found.length; i++) {
                found[i] = doubles ? written.getDouble() : written.getFloat();
            }
            double[] expected = Arrays.stream(ExampleForests.expected(doubles ? "lgb_classes" : "xgb_classes", "value"))
                    .flatMapToDouble(Arrays::stream)
                    .toArray();
            assertThat(found).containsExactly(expected);
            assertThat(http.unregister("rows").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldRefuseRowsWithOtherFeatures() {
        assertThatThrownBy(() -> grpc.service().modelInfer(request("xgb_binary", new double[7])))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("INVALID_ARGUMENT")
                .hasMessageContaining("Expected [-1,6], got [1,7]");
    }

    @Test
    void shouldSayWhyAModelIsNotServed() {
        String index = http.post("/v2/repository/index", "").body();
        assertThat(index)
                .contains("configuration has dims [5] for a row, the model has [1]: what it predicts for a row")
                .contains(
                        "parameter 'model_type' is 'gbm'; expected one of xgboost, xgboost_json, xgboost_ubj, lightgbm")
                .contains("model 'no_shap' has no treeshap_output: LightGBM failed: Predicting SHAP")
                .contains("model 'cut_ubj': xgboost.ubj is damaged, or not in the format xgboost_ubj: at byte")
                .contains("model 'cut_json': xgboost.json is damaged, or not in the format xgboost_json: at byte")
                .contains("model 'cut_text': model.txt is damaged, or not in the format lightgbm: ")
                .contains("model 'cut_binary': xgboost.model is damaged, or not in the format xgboost: ")
                .contains("model 'treelite' is a checkpoint of Treelite, which nothing here runs");
    }

    @Test
    void shouldPassTheCheck() {
        ServerProcess check =
                ServerProcess.run("check", ExampleForests.ALL.models().toString());
        assertThat(check.awaitExit(Duration.ZERO)).as(check.log()).isZero();
        assertThat(check.output())
                .containsPattern(
                        "xgb_binary: good, version 1\\R +threads of a run: [0-9]+, of [0-9]+ cores? for 1 instance")
                .contains("max_batch_size: 32768", "name: \"output__0\"");
    }

    @Test
    void shouldSayHowToInstallTheLibraries(@TempDir Path cache) throws InterruptedException {
        try (ServerProcess bare = ServerProcess.launch(
                        ExampleForests.ALL.models(), Map.of("GATUN_CACHE", cache.toString()), "--exit-on-error=false");
                HttpApi api = new HttpApi(bare)) {
            assertThat(api.post("/v2/repository/index", "").body())
                    .contains("XGBoost is not installed; install it with './gatun install xgboost'")
                    .contains("LightGBM is not installed; install it with './gatun install lightgbm'");
        }
    }
}
