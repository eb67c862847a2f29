// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.limits.LimitSettings;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.testing.RecordFiles;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.Example;
import gatun.wire.tensorflow.Feature;
import gatun.wire.tensorflow.FloatList;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.TensorShapeProto;
import gatun.wire.tensorflow.serving.InferenceTask;
import gatun.wire.tensorflow.serving.Input;
import gatun.wire.tensorflow.serving.ModelSpec;
import gatun.wire.tensorflow.serving.MultiInferenceRequest;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.PredictionLog;
import gatun.wire.tensorflow.serving.SessionRunLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models with recorded requests beside them; each test loads one and looks what came of it. */
@Timeout(60)
class WarmUpRecordsTest {
    private static final String FILE = "assets.extra/tf_serving_warmup_requests";

    private final BufferPool pool = new BufferPool(64 << 20);
    private final SharedRegions regions = SharedRegions.open(pool);

    @TempDir
    private Path models;

    @BeforeEach
    void addModels() throws IOException {
        model("judge", "backend: \"judge\"", """
                        input [ { name: "inputs" data_type: TYPE_STRING dims: [ -1 ] } ]
                        output [ { name: "classes" data_type: TYPE_STRING dims: [ -1, -1 ] },
                                 { name: "scores" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
                        instance_group [ { count: 1 } ]
                        """);
        model("echo", "backend: \"echo\"", """
                        input [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] } ]
                        output [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] } ]
                        default_model_filename: "model.savedmodel"
                        instance_group [ { count: 2 } ]
                        """);
    }

    @AfterEach
    void nothingShouldBeLeft() {
        regions.close();
        assertThat(pool.usedBytes()).as("bytes of the pool in use").isZero();
        pool.close();
    }

    private void model(String name, String backend, String config) throws IOException {
        Files.createDirectories(models.resolve(name).resolve("1/assets.extra"));
        Files.writeString(models.resolve(name).resolve("config.pbtxt"), backend + " " + config);
    }

    private void records(String model, byte[] file) throws IOException {
        Files.write(models.resolve(model).resolve("1").resolve(FILE), file);
    }

    private GatunServer open(int iterations) {
        return GatunServer.open(ServerOptions.of(pool, regions)
                .repository(models)
                .backend(new EchoBackend())
                .backend(new JudgeBackend())
                .warmUps(new WarmUpRecords(pool, LimitSettings.standard(), iterations)));
    }

    /** Loads the models and tells how many requests one has answered. */
    private long answered(String model, int iterations) {
        try (GatunServer server = open(iterations)) {
            assertThat(server.index()).extracting(ModelStatus::reason).containsOnly("");
            return server.model(model, "1") == null
                    ? -1
                    : server.statistics().stream()
                            .filter(row -> row.name().equals(model))
                            .mapToLong(row -> row.successCount())
                            .sum();
        }
    }

    /** Loads the models and tells why one of them failed; the other must be served. */
    private String reason(String model) {
        try (GatunServer server = open(1)) {
            assertThat(server.index())
                    .filteredOn(row -> !row.name().equals(model))
                    .extracting(ModelStatus::state)
                    .containsOnly(ModelState.READY);
            ModelStatus failed = server.index().stream()
                    .filter(row -> row.name().equals(model))
                    .findFirst()
                    .orElseThrow();
            assertThat(failed.state()).isEqualTo(ModelState.UNAVAILABLE);
            return failed.reason();
        }
    }

    private static byte[] file(PredictionLog... logs) {
        return RecordFiles.of(
                Arrays.stream(logs).map(PredictionLog::toByteArray).toArray(byte[][]::new));
    }

    private static byte[] empty(int count) {
        return RecordFiles.of(Collections.nCopies(count, new byte[0]).toArray(byte[][]::new));
    }

    private static PredictionLog predict(String input) {
        PredictRequest request = PredictRequest.newBuilder()
                .putInputs(
                        input,
                        TensorProto.newBuilder()
                                .setDtype(DataType.DT_FLOAT)
                                .setTensorShape(TensorShapeProto.newBuilder()
                                        .addDim(TensorShapeProto.Dim.newBuilder()
                                                .setSize(2)))
                                .addFloatVal(1)
                                .addFloatVal(2)
                                .build())
                .build();
        PredictionLog.Builder log = PredictionLog.newBuilder();
        log.getPredictLogBuilder().setRequest(request);
        return log.build();
    }

    private static Input example() {
        Input.Builder input = Input.newBuilder();
        Example.Builder example = input.getExampleListBuilder().addExamplesBuilder();
        example.getFeaturesBuilder()
                .putFeature(
                        "x",
                        Feature.newBuilder()
                                .setFloatList(FloatList.newBuilder().addValue(1))
                                .build());
        return input.build();
    }

    private static ModelSpec signature(String name) {
        return ModelSpec.newBuilder().setName("judge").setSignatureName(name).build();
    }

    private static PredictionLog classify(String signature) {
        PredictionLog.Builder log = PredictionLog.newBuilder();
        log.getClassifyLogBuilder()
                .getRequestBuilder()
                .setModelSpec(signature(signature))
                .setInput(example());
        return log.build();
    }

    private static PredictionLog regress(String signature) {
        PredictionLog.Builder log = PredictionLog.newBuilder();
        log.getRegressLogBuilder()
                .getRequestBuilder()
                .setModelSpec(signature(signature))
                .setInput(example());
        return log.build();
    }

    private static PredictionLog both() {
        PredictionLog.Builder log = PredictionLog.newBuilder();
        log.getMultiInferenceLogBuilder()
                .setRequest(MultiInferenceRequest.newBuilder()
                        .addTasks(InferenceTask.newBuilder()
                                .setModelSpec(signature("scores_only"))
                                .setMethodName(ExampleMethod.CLASSIFY.signatureMethod()))
                        .addTasks(InferenceTask.newBuilder()
                                .setModelSpec(signature("regress"))
                                .setMethodName(ExampleMethod.REGRESS.signatureMethod()))
                        .setInput(example()));
        return log.build();
    }

    @Test
    void shouldAnswerRecordedRequestsOfAllKindsBeforeItServes() throws IOException {
        records("judge", file(classify(""), regress("regress"), both(), PredictionLog.getDefaultInstance()));
        assertThat(answered("judge", 1)).isEqualTo(4);
    }

    @Test
    void shouldAnswerEachRequestAsOftenAsAskedOnEachInstance() throws IOException {
        records("echo", file(predict("x"), predict("x")));
        assertThat(answered("echo", 3)).isEqualTo(2 * 2 * 3);
    }

    @Test
    void shouldFindRecordsInTritonsLayout() throws IOException {
        Path folder = models.resolve("echo/1/model.savedmodel/assets.extra");
        Files.createDirectories(folder);
        Files.write(folder.resolve("tf_serving_warmup_requests"), file(predict("x")));
        assertThat(answered("echo", 1)).isEqualTo(2);
    }

    @Test
    void shouldServeAModelWithAnEmptyFile() throws IOException {
        records("echo", new byte[0]);
        assertThat(answered("echo", 1)).isZero();
    }

    @Test
    void shouldRefuseAModelThatFailsItsRequestsAndSayWhichAndWhy() throws IOException {
        records("echo", file(predict("x"), predict("other")));
        assertThat(reason("echo"))
                .startsWith("warmup request 2: ")
                .contains("Signature input alias: x(feed name: x) not found in request")
                .contains("other");
        records("echo", new byte[0]);
        records("judge", file(regress("flat_scores")));
        assertThat(reason("judge")).startsWith("warmup request 1: No regression outputs found in SignatureDef");
    }

    @Test
    void shouldRefuseRunsOfTheSession() throws IOException {
        PredictionLog run = PredictionLog.newBuilder()
                .setSessionRunLog(SessionRunLog.getDefaultInstance())
                .build();
        records("echo", file(run));
        assertThat(reason("echo")).startsWith("warmup request 1: Unsupported log_type for warmup: 5");
    }

    @Test
    void shouldRefuseMoreThanAThousandRecords() throws IOException {
        records("echo", empty(1000));
        assertThat(answered("echo", 1)).isZero();
        records("echo", empty(1001));
        assertThat(reason("echo")).isEqualTo("Number of warmup records exceeds the maximum (1000) at " + FILE);
    }

    @Test
    void shouldRefuseARecordThatIsNoRequest() throws IOException {
        records("echo", RecordFiles.of(new byte[] {0x32, 0x05, 0x0a}));
        assertThat(reason("echo")).startsWith("warmup request 1: Failed to parse warmup record: ");
        records("echo", RecordFiles.of("no message".getBytes(StandardCharsets.UTF_8)));
        assertThat(reason("echo")).startsWith("warmup request 1: Failed to parse warmup record: ");
    }

    @Test
    void shouldTellWhereAFileIsDamaged() throws IOException {
        byte[] whole = file(predict("x"), predict("x"));
        int second = whole.length / 2;
        String hint = ". Please verify your warmup data is in TFRecord format.";
        byte[] changed = whole.clone();
        changed[second + 20] ^= 1;
        records("echo", changed);
        assertThat(reason("echo")).isEqualTo(FILE + ": corrupted record at " + second + hint);
        byte[] wrongLength = whole.clone();
        wrongLength[second] ^= 1;
        records("echo", wrongLength);
        assertThat(reason("echo")).isEqualTo(FILE + ": corrupted record at " + second + hint);
        records("echo", Arrays.copyOf(whole, whole.length - 1));
        assertThat(reason("echo")).isEqualTo(FILE + ": truncated record at " + second + hint);
        records("echo", Arrays.copyOf(whole, second + 3));
        assertThat(reason("echo")).isEqualTo(FILE + ": truncated record at " + second + hint);
    }

    @Test
    void shouldRefuseFilesOfAnyBytesWithoutLosingMemory() throws IOException {
        Random random = new Random(7);
        for (int i = 0; i < 50; i++) {
            byte[] noise = new byte[1 + random.nextInt(200)];
            random.nextBytes(noise);
            records("echo", noise);
            assertThat(reason("echo")).startsWith(FILE + ": ").contains("record at 0");
            assertThat(pool.usedBytes()).isZero();
        }
    }
}
