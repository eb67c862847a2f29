// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.spi.MemoryUse;
import gatun.testing.OnnxFile;
import gatun.testing.OnnxGraph;
import gatun.testing.executions.RecordedExecution;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelParameter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The backend on real models of {@code examples/models}. Each test ends with no native object left. */
class OnnxRuntimeBackendTest {
    private static final Path MODELS = Path.of("..", "..", "examples", "models");
    private static final int[] ZERO_TO_15 = IntStream.range(0, 16).toArray();
    private static final int[] ONES = IntStream.generate(() -> 1).limit(16).toArray();

    private final OnnxRuntimeBackend backend = new OnnxRuntimeBackend();

    @BeforeEach
    void start() {
        backend.start(Map.of());
    }

    @AfterEach
    void nothingShouldBeLeft() {
        assertThat(LiveHandles.values()).as("live values").isZero();
        assertThat(LiveHandles.sessions()).as("live sessions").isZero();
    }

    @Test
    void shouldAddAndSubtractInPlace() {
        try (BackendInstance instance = instance(simple(), "simple")) {
            RecordedExecution execution = addSub(Shape.of(1, 16), 0);
            instance.execute(execution);

            assertThat(execution.ints("OUTPUT0"))
                    .containsExactly(IntStream.range(1, 17).toArray());
            assertThat(execution.ints("OUTPUT1"))
                    .containsExactly(IntStream.range(-1, 15).toArray());
            assertThat(execution.output("OUTPUT0").spec().shape()).isEqualTo(Shape.of(1, 16));
        }
    }

    @Test
    void shouldKeepValuesForAddressesThatComeAgain() {
        try (BackendInstance instance = instance(simple(), "simple")) {
            RecordedExecution execution = addSub(Shape.of(1, 16), 0);
            instance.execute(execution);
            long after = LiveHandles.values();
            RecordedExecution again =
                    new RecordedExecution("OUTPUT0").input(execution.input(0)).input(execution.input(1));
            instance.execute(again);

            assertThat(again.ints("OUTPUT0")).startsWith(1, 2, 3);
            assertThat(LiveHandles.values()).isBetween(after, after + 1);
        }
    }

    @Test
    void shouldReadInputsAndWriteOutputsThatAreNotAligned() {
        try (BackendInstance instance = instance(simple(), "simple")) {
            RecordedExecution execution = addSub(Shape.of(1, 16), 3).misalignOutputs(1);
            instance.execute(execution);

            assertThat(execution.ints("OUTPUT0"))
                    .containsExactly(IntStream.range(1, 17).toArray());
        }
    }

    @Test
    void shouldAnswerOnlyTheWantedOutputInAnyOrderOfInputs() {
        try (BackendInstance instance = instance(simple(), "simple")) {
            RecordedExecution execution = new RecordedExecution("OUTPUT1")
                    .ints("INPUT1", Shape.of(1, 16), ONES)
                    .ints("INPUT0", Shape.of(1, 16), ZERO_TO_15);
            instance.execute(execution);

            assertThat(execution.ints("OUTPUT1"))
                    .containsExactly(IntStream.range(-1, 15).toArray());
        }
    }

    @Test
    void shouldCarryStringsBothWays() {
        ModelConfig config = backend.complete(
                ModelConfig.newBuilder()
                        .setName("simple_string")
                        .setMaxBatchSize(8)
                        .build(),
                version("simple_string"));
        String[] numbers = IntStream.range(0, 16).mapToObj(Integer::toString).toArray(String[]::new);
        try (BackendInstance instance = instance(config, "simple_string")) {
            instance.warmUp();
            RecordedExecution execution = new RecordedExecution("OUTPUT0", "OUTPUT1")
                    .texts("INPUT0", Shape.of(1, 16), numbers)
                    .texts("INPUT1", Shape.of(1, 16), numbers);
            instance.execute(execution);

            assertThat(execution.texts("OUTPUT0")).startsWith("0", "2", "4").endsWith("30");
            assertThat(execution.texts("OUTPUT1")).containsOnly("0");
        }
    }

    @Test
    void shouldReportWhatTheEngineSaysOfStringsThatAreNoNumbers() {
        ModelConfig config = backend.complete(
                ModelConfig.newBuilder().setName("simple_string").build(), version("simple_string"));
        String[] words = IntStream.range(0, 16).mapToObj(i -> "word").toArray(String[]::new);
        try (BackendInstance instance = instance(config, "simple_string")) {
            RecordedExecution execution = new RecordedExecution("OUTPUT0")
                    .texts("INPUT0", Shape.of(1, 16), words)
                    .texts("INPUT1", Shape.of(1, 16), words);

            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> instance.execute(execution))
                    .withMessageStartingWith(
                            "onnx runtime error: an element of a BYTES input is not the text of a number")
                    .withMessageNotContaining("\n")
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
        }
    }

    @Test
    void shouldRefuseAShapeThatTheModelDoesNotTake() {
        try (BackendInstance instance = instance(simple(), "simple")) {
            RecordedExecution execution = new RecordedExecution("OUTPUT0", "OUTPUT1")
                    .ints("INPUT0", Shape.of(1, 8), new int[8])
                    .ints("INPUT1", Shape.of(1, 8), new int[8]);

            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> instance.execute(execution))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));

            RecordedExecution next = addSub(Shape.of(1, 16), 0);
            instance.execute(next);
            assertThat(next.ints("OUTPUT0")).startsWith(1, 2, 3);
        }
    }

    @Test
    void shouldCompleteAConfigurationFromTheModel() {
        ModelConfig config =
                backend.complete(ModelConfig.newBuilder().setName("simple").build(), version("simple"));

        assertThat(config.getMaxBatchSize()).isEqualTo(4);
        assertThat(config.hasDynamicBatching()).isTrue();
        assertThat(config.getInputList())
                .extracting(ModelInput::getName, ModelInput::getDataType, ModelInput::getDimsList)
                .containsExactly(
                        tuple("INPUT0", DataType.TYPE_INT32, List.of(16L)),
                        tuple("INPUT1", DataType.TYPE_INT32, List.of(16L)));
        assertThat(config.getOutputList()).extracting(ModelOutput::getName).containsExactly("OUTPUT0", "OUTPUT1");
    }

    @Test
    void shouldRefuseAConfigurationThatContradictsTheModel() {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> instance(
                        simple().toBuilder()
                                .setInput(0, simple().getInput(0).toBuilder().setName("INPUT9"))
                                .build(),
                        "simple"))
                .withMessage("unexpected inference input 'INPUT9', allowed inputs are: INPUT0, INPUT1");
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> instance(simple().toBuilder().removeInput(0).build(), "simple"))
                .withMessage("unable to load model 'simple', configuration expects 1 inputs, model provides 2:"
                        + " configuration misses input 'INPUT0' of the model, inputs are: INPUT0, INPUT1");
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> instance(
                        simple().toBuilder()
                                .addInput(simple().getInput(0).toBuilder().setName("EXTRA"))
                                .build(),
                        "simple"))
                .withMessage("unable to load model 'simple', configuration expects 3 inputs, model provides 2: there is"
                        + " no input 'EXTRA' in the model, inputs are: INPUT0, INPUT1");
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> instance(
                        simple().toBuilder()
                                .setInput(0, simple().getInput(0).toBuilder().setDataType(DataType.TYPE_FP32))
                                .build(),
                        "simple"))
                .withMessageContaining("expects datatype TYPE_FP32 for input 'INPUT0', model provides TYPE_INT32");
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> instance(
                        simple().toBuilder()
                                .setInput(
                                        0,
                                        simple().getInput(0).toBuilder()
                                                .clearDims()
                                                .addDims(17))
                                .build(),
                        "simple"))
                .withMessageContaining("the model expects 2 dimensions (shape [-1,16])")
                .withMessageContaining("[-1,17]");
    }

    @Test
    void shouldTellWhereARunTouchesTheMemoryOfTensors() {
        try (BackendModel model = backend.load(simple(), version("simple"))) {
            assertThat(model.inputMemory("INPUT0")).isEqualTo(MemoryUse.IN_PLACE);
            assertThat(model.outputMemory("OUTPUT1")).isEqualTo(MemoryUse.IN_PLACE);
            assertThat(model.inputMemory("INPUT2")).isEqualTo(MemoryUse.copied("the graph does not have it"));
            assertThat(model.dependenceOfRows()).isEmpty();
        }
    }

    @Test
    void shouldCopyAllWhereSomethingElseThanTheFileOrTheKernelsDecides() {
        ModelConfig.Builder accelerated = simple().toBuilder();
        accelerated
                .getOptimizationBuilder()
                .getExecutionAcceleratorsBuilder()
                .addCpuExecutionAcceleratorBuilder()
                .setName("xnnpack");
        assertAllCopied(accelerated.build(), "nobody knows how execution accelerators read it");

        ModelConfig ownFormat = simple().toBuilder()
                .putParameters(
                        "session.load_model_format",
                        ModelParameter.newBuilder().setStringValue("ORT").build())
                .build();
        assertAllCopied(ownFormat, "graphs in ONNX Runtime's own format are not read");
    }

    @Test
    void shouldSayWhatToDoWithAcceleratorsThatThereAreNot() {
        ModelConfig.Builder onGpu = simple().toBuilder();
        onGpu.getOptimizationBuilder()
                .getExecutionAcceleratorsBuilder()
                .addGpuExecutionAcceleratorBuilder()
                .setName("tensorrt");
        assertNoInstance(onGpu.build(), "instances on GPUs run on CUDA, whose options are parameters of the model");

        ModelConfig.Builder unknown = simple().toBuilder();
        unknown.getOptimizationBuilder()
                .getExecutionAcceleratorsBuilder()
                .addCpuExecutionAcceleratorBuilder()
                .setName("other");
        assertNoInstance(unknown.build(), "those that can be used are openvino and xnnpack");
    }

    private void assertNoInstance(ModelConfig config, String reason) {
        try (BackendModel model = backend.load(config, version("simple"))) {
            assertThatThrownBy(() -> model.newInstance(new InstanceSpec("simple_0", 1, Device.CPU)))
                    .hasMessageContaining(reason);
        }
    }

    private void assertAllCopied(ModelConfig config, String reason) {
        try (BackendModel model = backend.load(config, version("simple"))) {
            assertThat(model.inputMemory("INPUT0")).isEqualTo(MemoryUse.copied(reason));
            assertThat(model.outputMemory("OUTPUT0")).isEqualTo(MemoryUse.copied(reason));
        }
    }

    @Test
    void shouldSayWhatIsWrongWithAFileThatIsNoModel(@TempDir Path folder) throws IOException {
        Path version = Files.createDirectory(folder.resolve("1"));
        Files.writeString(version.resolve("model.onnx"), "this is no model");

        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> backend.complete(
                        ModelConfig.newBuilder().setName("broken").build(), version))
                .withMessageStartingWith("model.onnx is not a valid ONNX file: ")
                .withMessageNotContaining(folder.toString());
    }

    @Test
    void shouldSayHowAClassifierIsConvertedWithoutMaps(@TempDir Path folder) {
        OnnxFile.writeSequence(folder.resolve("1"), new OnnxFile.Value("IN", 1, "2"), "probabilities");

        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> backend.complete(
                        ModelConfig.newBuilder().setName("maps").build(), folder.resolve("1")))
                .withMessageStartingWith("output 'probabilities' is a sequence, map or optional;")
                .withMessageContaining("options={'zipmap': False}");
    }

    @Test
    void shouldNameTheFileThatIsThereUnderAnotherName(@TempDir Path folder) throws IOException {
        Path version = Files.createDirectory(folder.resolve("1"));
        Files.writeString(version.resolve("resnet.onnx"), "model");

        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> backend.complete(
                        ModelConfig.newBuilder().setName("renamed").build(), version))
                .withMessage("version 1 of model 'renamed' has no file model.onnx; it has resnet.onnx: rename it, or"
                        + " write default_model_filename: \"resnet.onnx\" in config.pbtxt");
    }

    @Test
    void shouldRefuseAParameterThatIsNoNumber() {
        ModelConfig config = simple().toBuilder()
                .putParameters(
                        "intra_op_thread_count",
                        ModelParameter.newBuilder().setStringValue("many").build())
                .build();

        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> instance(config, "simple"))
                .withMessage("parameter 'intra_op_thread_count' is 'many'; expected a number >= 0");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    intra_op_thread_count | 1000000000 | expected at most 1024
                    inter_op_thread_count | 1000000000 | expected at most 1024
                    memory.enable_memory_arena_shrinkage | everything | expected devices such as cpu:0
                    ep.context_file_path | /tmp/anything | names a file for the engine, which is not allowed
                    session.model_external_initializers_file_folder_path | /etc | names a file for the engine
                    """)
    void shouldRefuseAParameterThatTakesTooMuchOrReadsFiles(String name, String value, String reason) {
        ModelConfig config = simple().toBuilder()
                .putParameters(
                        name, ModelParameter.newBuilder().setStringValue(value).build())
                .build();

        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> instance(config, "simple"))
                .withMessageContaining(reason);
    }

    @ParameterizedTest
    @CsvSource({
        "memory.enable_memory_arena_shrinkage, cpu:0",
        "enable_mem_arena, 0",
        "enable_mem_pattern, false",
        "execution_mode, 1",
        "session.intra_op.allow_spinning, 0",
        "session.set_denormal_as_zero, 1",
        "session.intra_op_thread_affinities, 1"
    })
    void shouldRunWithParametersOfTheEngine(String name, String value) {
        ModelConfig config = simple().toBuilder()
                .putParameters(
                        name, ModelParameter.newBuilder().setStringValue(value).build())
                .putParameters(
                        "intra_op_thread_count",
                        ModelParameter.newBuilder().setStringValue("2").build())
                .build();
        try (BackendInstance instance = instance(config, "simple")) {
            RecordedExecution execution = addSub(Shape.of(1, 16), 0);
            instance.execute(execution);
            assertThat(execution.ints("OUTPUT0")).startsWith(1, 2, 3);
        }
    }

    @Test
    void shouldSayThatAChosenLibraryIsNotThere() {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> new OnnxRuntimeBackend().start(Map.of("library", "/nowhere/libonnxruntime.so")))
                .withMessage("ONNX Runtime not available: backend-config=onnxruntime,library=/nowhere/libonnxruntime.so"
                        + " names no file")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
    }

    private RecordedExecution addSub(Shape shape, int misalignment) {
        return new RecordedExecution("OUTPUT0", "OUTPUT1")
                .misalignedInts(misalignment, "INPUT0", shape, ZERO_TO_15)
                .misalignedInts(misalignment, "INPUT1", shape, ONES);
    }

    private ModelConfig simple() {
        return backend.complete(
                ModelConfig.newBuilder().setName("simple").setMaxBatchSize(8).build(), version("simple"));
    }

    /** As exported transformers do: a row of a table for each position, picked by number or added as they come. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Gather | idx=8 must be within the inclusive range [-8,7]",
                "Add | 8 by 9",
            })
    void shouldBlameTheClientForMorePositionsThanTheModelHas(String operator, String limit, @TempDir Path folder) {
        OnnxGraph graph = new OnnxGraph()
                .input("IN", OnnxGraph.INT32, "n")
                .output("OUT", OnnxGraph.INT64, "n")
                .integers("positions", 0, 1, 2, 3, 4, 5, 6, 7)
                .node("Cast", "IN", "ids", OnnxGraph.attribute("to", OnnxGraph.INT64))
                .node(operator, "positions ids", "OUT");
        Path version = folder.resolve("1");
        graph.write(version);
        ModelConfig config =
                backend.complete(ModelConfig.newBuilder().setName("positions").build(), version);
        try (BackendInstance instance =
                backend.load(config, version).newInstance(new InstanceSpec("positions_0", 1, Device.CPU))) {
            RecordedExecution execution =
                    new RecordedExecution("OUT").ints("IN", Shape.of(9), 0, 1, 2, 3, 4, 5, 6, 7, 8);

            assertThatExceptionOfType(GatunException.class)
                    .isThrownBy(() -> instance.execute(execution))
                    .withMessageContaining(limit)
                    .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
        }
    }

    private BackendInstance instance(ModelConfig config, String model) {
        return backend.load(config, version(model)).newInstance(new InstanceSpec(model + "_0", 1, Device.CPU));
    }

    private static Path version(String model) {
        return MODELS.resolve(model).resolve("1");
    }
}
