// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.spi.Execution;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class WarmUpTest {
    private static final String MODEL = """
            backend: "scripted"
            max_batch_size: 8
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] } ]
            instance_group [ { count: 1 } ]
            """;

    private final List<TensorSpec> specs = Collections.synchronizedList(new ArrayList<>());
    private final List<byte[]> contents = Collections.synchronizedList(new ArrayList<>());

    @TempDir
    private Path folder;

    private TestServer test;

    @BeforeEach
    void prepare() {
        test = new TestServer(folder);
    }

    @AfterEach
    void close() {
        assertThat(test.pool.usedBytes()).as("left in the pool").isZero();
        test.close();
        assertThat(test.backend.open).as("left open").hasValue(0);
    }

    private void open(String config) {
        open(config, ScriptedBackend::copy);
    }

    private void open(String config, Consumer<Execution> script) {
        test.model("m", config).open(execution -> {
            for (int i = 0; i < execution.inputCount(); i++) {
                specs.add(execution.inputSpec(i));
                contents.add(execution.input(i).bytes().toArray(ValueLayout.JAVA_BYTE));
            }
            script.accept(execution);
        });
    }

    private static String sample(String settings, String input) {
        return MODEL + "model_warmup [ { name: \"S\" " + settings + " inputs { key: \"IN\" value { " + input
                + " } } } ]";
    }

    private static float[] floats(byte[] bytes) {
        float[] values = new float[bytes.length / Float.BYTES];
        ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(values);
        return values;
    }

    @Test
    void shouldRunEachSampleAsOftenAndInBatchesAsLargeAsItSays() {
        open(sample("batch_size: 3 count: 2", "data_type: TYPE_FP32 dims: [ 2 ] zero_data: true")
                .replace("count: 1", "count: 2"));
        assertThat(test.server().index()).extracting(ModelStatus::state).containsExactly(ModelState.READY);
        // Two runs by each of two instances.
        assertThat(specs).hasSize(4).containsOnly(new TensorSpec("IN", Datatype.FP32, Shape.of(3, 2)));
        assertThat(contents).allSatisfy(bytes -> assertThat(bytes).containsOnly(0));
    }

    @Test
    void shouldCountWarmUpLikeRequests() {
        open(sample("batch_size: 3 count: 2", "data_type: TYPE_FP32 dims: [ 2 ] zero_data: true"));
        ModelStatistics statistics = test.server().statistics().getFirst();
        assertThat(statistics.successCount()).isEqualTo(6);
        assertThat(statistics.executionCount()).isEqualTo(2);
        assertThat(statistics.totals().inferenceCount()).isEqualTo(6);
    }

    @Test
    void shouldRunOnceWithoutACountAndNotAtAllWithoutABatchSize() {
        String input = "data_type: TYPE_FP32 dims: [ 2 ] zero_data: true";
        open(sample("batch_size: 1", input) + " model_warmup [ { name: \"T\" count: 5 inputs { key: \"IN\" value { "
                + input + " } } } ]");
        assertThat(specs).hasSize(1);
    }

    @Test
    void shouldMakeUpNumbersThatAreTheSameAtEachStart() {
        open(sample("batch_size: 1 count: 2", "data_type: TYPE_FP32 dims: [ 2 ] random_data: true"));
        assertThat(floats(contents.get(0))).hasSize(2).doesNotContain(0);
        for (float value : floats(contents.get(0))) {
            assertThat(value).isBetween(0f, 1f);
        }
        assertThat(contents.get(1)).isEqualTo(contents.get(0));
    }

    @ParameterizedTest
    @CsvSource({
        "TYPE_BOOL",
        "TYPE_INT8",
        "TYPE_UINT16",
        "TYPE_INT32",
        "TYPE_INT64",
        "TYPE_FP16",
        "TYPE_BF16",
        "TYPE_FP64"
    })
    void shouldMakeUpNumbersOfEveryDatatype(String datatype) {
        open(sample("batch_size: 1", "data_type: TYPE_FP32 dims: [ 64 ] random_data: true")
                .replace("TYPE_FP32", datatype)
                .replace("dims: [ 2 ]", "dims: [ -1 ]"));
        assertThat(test.server().index()).extracting(ModelStatus::reason).containsExactly("");
        boolean allZeros = true;
        for (byte value : contents.getFirst()) {
            allZeros &= value == 0;
        }
        assertThat(allZeros).isFalse();
    }

    @Test
    void shouldTakeEmptyStringsForStrings() {
        open(sample("batch_size: 2", "data_type: TYPE_STRING dims: [ 2 ] random_data: true")
                .replace("TYPE_FP32", "TYPE_STRING"));
        assertThat(specs).containsExactly(new TensorSpec("IN", Datatype.BYTES, Shape.of(2, 2)));
        assertThat(contents.getFirst()).hasSize(16).containsOnly(0);
    }

    @Test
    void shouldReadDataFromTheModelsFolder() throws Exception {
        Files.createDirectories(folder.resolve("m/warmup"));
        ByteBuffer data = ByteBuffer.allocate(12)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putFloat(5)
                .putFloat(6)
                .putFloat(7);
        Files.write(folder.resolve("m/warmup/raw"), data.array());
        open(sample("batch_size: 2", "data_type: TYPE_FP32 dims: [ 2 ] input_data_file: \"raw\""));
        assertThat(floats(contents.getFirst())).containsExactly(5, 6, 5, 6);
    }

    @Test
    void shouldReadStringsFromTheModelsFolder() throws Exception {
        Files.createDirectories(folder.resolve("m/warmup"));
        ByteBuffer data = ByteBuffer.allocate(13)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(1)
                .put((byte) 'a')
                .putInt(4);
        data.put("text".getBytes(StandardCharsets.UTF_8));
        Files.write(folder.resolve("m/warmup/raw"), data.array());
        open(sample("batch_size: 1", "data_type: TYPE_STRING dims: [ 2 ] input_data_file: \"raw\"")
                .replace("TYPE_FP32", "TYPE_STRING"));
        assertThat(contents.getFirst()).isEqualTo(data.array());
    }

    @Test
    void shouldGiveTheModelInputsThatNoClientSends() {
        String start = "inputs { key: \"START\" value { data_type: TYPE_INT32 dims: [ 1 ] zero_data: true } }";
        open(sample("batch_size: 2 " + start, "data_type: TYPE_FP32 dims: [ 2 ] zero_data: true"));
        assertThat(test.server().index()).extracting(ModelStatus::reason).containsExactly("");
        assertThat(specs)
                .containsExactly(
                        new TensorSpec("IN", Datatype.FP32, Shape.of(2, 2)),
                        new TensorSpec("START", Datatype.INT32, Shape.of(2, 1)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            data_type: TYPE_FP32 dims: [ -1 ] zero_data: true | warmup setting expects all variable-size dimensions are specified for input 'IN'
            data_type: TYPE_FP32 dims: [ 2 ] | warmup setting expects input 'IN' to have input_data_type set
            data_type: TYPE_FP32 dims: [ 2 ] input_data_file: "short" | warmup setting expects 8 bytes, but the data provided from shortonly has 7 bytes
            data_type: TYPE_FP32 dims: [ 2 ] input_data_file: "../config.pbtxt" | warmup setting reads '../config.pbtxt', which leads out of the model's folder warmup
            """)
    void shouldRefuseToLoadWithTheReason(String input, String reason) throws Exception {
        Files.createDirectories(folder.resolve("m/warmup"));
        Files.write(folder.resolve("m/warmup/short"), new byte[7]);
        open(sample("batch_size: 1", input));
        assertThat(test.server().index()).extracting(ModelStatus::state).containsExactly(ModelState.UNAVAILABLE);
        assertThat(test.server().index()).extracting(ModelStatus::reason).containsExactly(reason);
        assertThat(contents).isEmpty();
    }

    @Test
    void shouldDropAllResponsesOfADecoupledModel() {
        String decoupled = "model_transaction_policy { decoupled: true } ";
        open(decoupled + sample("batch_size: 2", "data_type: TYPE_FP32 dims: [ 2 ] zero_data: true"), execution -> {
            for (int i = 0; i < 20; i++) {
                ScriptedBackend.copy(execution);
                execution.send();
            }
        });
        assertThat(test.server().index()).extracting(ModelStatus::reason).containsExactly("");
        assertThat(test.server().statistics().getFirst().successCount()).isEqualTo(2);
    }

    @Test
    void shouldRefuseToLoadWhenASampleFails() {
        open(sample("batch_size: 2", "data_type: TYPE_FP32 dims: [ 2 ] zero_data: true"), execution -> {
            execution.output(0, Datatype.FP32, Shape.of(2, 2), 16).setAtIndex(ElementLayouts.FP32, 0, 1);
            throw GatunException.invalidArgument("the engine is cold");
        });
        assertThat(test.server().index()).extracting(ModelStatus::state).containsExactly(ModelState.UNAVAILABLE);
        assertThat(test.server().index())
                .extracting(ModelStatus::reason)
                .containsExactly("failed to run warmup sample 'S': the engine is cold; ");
    }

    @Test
    void shouldNotRunTheRequestsOfASampleApartThatFailsAsABatch() {
        open(sample("batch_size: 2", "data_type: TYPE_FP32 dims: [ 2 ] zero_data: true"), execution -> {
            if (execution.requests().size() > 1) {
                throw GatunException.invalidArgument("one at a time");
            }
            ScriptedBackend.copy(execution);
        });
        assertThat(test.server().index()).extracting(ModelStatus::state).containsExactly(ModelState.UNAVAILABLE);
    }

    /** A server whose model gets one request with two rows from elsewhere. */
    private void openWithASource(String config, Consumer<Execution> script) {
        test.model("m", config)
                .open(
                        script,
                        options -> options.warmUps((version, directory, instance) -> {
                            assertThat(directory).isEqualTo(folder.resolve("m/1"));
                            InferenceRequest request = new InferenceRequest(version);
                            test.input(request, "IN", 2, 2);
                            try (InferenceResponse response = instance.apply(request)) {
                                OutputTensor output = response.outputs().getFirst();
                                contents.add(output.tensor().bytes().toArray(ValueLayout.JAVA_BYTE));
                            }
                        }));
    }

    @Test
    void shouldAnswerRequestsFromElsewhereOnEachInstance() {
        openWithASource(MODEL.replace("count: 1", "count: 2"), ScriptedBackend::copy);
        assertThat(test.server().index()).extracting(ModelStatus::reason).containsExactly("");
        assertThat(contents).hasSize(2).allSatisfy(answer -> assertThat(floats(answer))
                .containsExactly(0, 1, 2, 3));
    }

    @Test
    void shouldRefuseToLoadWhenARequestFromElsewhereFails() {
        openWithASource(MODEL, execution -> {
            throw GatunException.invalidArgument("the engine is cold");
        });
        assertThat(test.server().index()).extracting(ModelStatus::state).containsExactly(ModelState.UNAVAILABLE);
        assertThat(test.server().index()).extracting(ModelStatus::reason).containsExactly("the engine is cold");
    }

    @Test
    void shouldRefuseRequestsFromElsewhereToADecoupledModel() {
        openWithASource("model_transaction_policy { decoupled: true } " + MODEL, ScriptedBackend::copy);
        assertThat(test.server().index()).singleElement().satisfies(status -> assertThat(status.reason())
                .contains("is decoupled"));
        assertThat(contents).isEmpty();
    }
}
