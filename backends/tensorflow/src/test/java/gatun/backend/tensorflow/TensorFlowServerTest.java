package gatun.backend.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.bindings.LibraryCache;
import gatun.memory.Buffer;
import gatun.memory.BufferPool;
import gatun.memory.BytesCodec;
import gatun.memory.Datatype;
import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.SystemRegions;
import gatun.memory.Tensor;
import gatun.memory.TensorSpec;
import gatun.protocol.tensorflow.Example;
import gatun.protocol.tensorflow.Feature;
import gatun.protocol.tensorflow.Features;
import gatun.protocol.tensorflow.FloatList;
import gatun.runtime.EntryPoint;
import gatun.runtime.GatunServer;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.OutputTensor;
import gatun.runtime.ServerOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The runtime with this engine on the models of {@code examples/tensorflow}. Each test ends with nothing left open. */
@Timeout(120)
class TensorFlowServerTest {
    private static final Path MODELS = Path.of("..", "..", "examples", "tensorflow", "models");

    private final BufferPool pool = new BufferPool(64 << 20);
    private final SystemRegions regions = SystemRegions.open(pool);
    private GatunServer server;

    @BeforeEach
    void open() {
        assumeThat(InstalledLibrary.in(LibraryCache.ofUser()))
                .as("TensorFlow's library, installed by './gatun install tensorflow'")
                .isPresent();
        server = GatunServer.open(ServerOptions.of(pool, regions).repository(MODELS));
    }

    @AfterEach
    void nothingShouldBeLeft() {
        if (server != null) {
            server.close();
        }
        regions.close();
        assertThat(LiveTensors.count()).as("live tensors").isZero();
        assertThat(pool.usedBytes()).as("bytes of the pool in use").isZero();
        pool.close();
    }

    private InferenceRequest request(String model, String entryPoint) {
        InferenceRequest request = new InferenceRequest(server.model(model, ""));
        request.entryPoint(entryPoint);
        return request;
    }

    private MemorySegment input(InferenceRequest request, TensorSpec spec, long byteSize) {
        Buffer buffer = pool.take(Math.max(1, byteSize));
        request.hold(buffer);
        MemorySegment bytes = buffer.segment().asSlice(0, byteSize);
        request.addInput(new Tensor(spec, bytes));
        return bytes;
    }

    private InferenceRequest floats(InferenceRequest request, String name, Shape shape, float... values) {
        MemorySegment bytes = input(request, new TensorSpec(name, Datatype.FP32, shape), values.length * 4L);
        MemorySegment.copy(values, 0, bytes, ValueLayout.JAVA_FLOAT, 0, values.length);
        return request;
    }

    private InferenceRequest strings(InferenceRequest request, String name, byte[]... values) {
        List<byte[]> elements = List.of(values);
        MemorySegment bytes = input(
                request,
                new TensorSpec(name, Datatype.BYTES, Shape.of(values.length)),
                BytesCodec.encodedByteSize(elements));
        BytesCodec.encode(elements, bytes);
        return request;
    }

    private float[] answer(InferenceRequest request) {
        try (request;
                InferenceResponse response = server.infer(request)) {
            return response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_FLOAT);
        }
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] example(String feature, float value) {
        return Example.newBuilder()
                .setFeatures(Features.newBuilder()
                        .putFeature(
                                feature,
                                Feature.newBuilder()
                                        .setFloatList(FloatList.newBuilder().addValue(value))
                                        .build()))
                .build()
                .toByteArray();
    }

    @Test
    void shouldServeEachSignatureAsAnEntryPoint() {
        ModelVersion model = server.model("half_plus_two", "");
        assertThat(model.platform()).isEqualTo("tensorflow_savedmodel");
        assertThat(model.entryPoints().keySet())
                .containsExactly(
                        "serving_default",
                        "classify_x2_to_y3",
                        "classify_x_to_y",
                        "regress_x2_to_y3",
                        "regress_x_to_y",
                        "regress_x_to_y2");
        EntryPoint regress = model.entryPoints().get("regress_x_to_y");
        assertThat(regress.method()).isEqualTo("tensorflow/serving/regress");
        assertThat(regress.inputs()).singleElement().satisfies(input -> {
            assertThat(input.anyShape()).isTrue();
            assertThat(input.engineName()).isEqualTo("tf_example:0");
            assertThat(input.spec().datatype()).isEqualTo(Datatype.BYTES);
        });
        assertThat(model.inputs()).containsExactly(new TensorSpec("x", Datatype.FP32, Shape.of(-1, 1)));
        assertThat(model.config().getMaxBatchSize()).isZero();
    }

    @Test
    void shouldPredictWithTheConfigurationsShapesAndWithTheSignatures() {
        assertThat(answer(floats(request("half_plus_two", ""), "x", Shape.of(3, 1), 1, 2, 5)))
                .containsExactly(2.5f, 3, 4.5f);
        assertThat(answer(floats(request("half_plus_three", "serving_default"), "x", Shape.of(3), 1, 2, 5)))
                .containsExactly(3.5f, 4, 5.5f);
        assertThatThrownBy(() -> answer(floats(request("half_plus_two", ""), "x", Shape.of(3), 1, 2, 5)))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("unexpected shape for input 'x'");
    }

    @Test
    void shouldRegressAndClassifyExamples() {
        assertThat(answer(strings(
                        request("half_plus_two", "regress_x_to_y"), "inputs", example("x", 2), example("x", 4))))
                .containsExactly(3, 4);
        assertThat(answer(strings(request("half_plus_two", "classify_x2_to_y3"), "inputs", example("x2", 2))))
                .containsExactly(4);
    }

    @Test
    void shouldTellTheClientWhatTheEngineRefuses() {
        assertThatThrownBy(
                        () -> answer(strings(request("half_plus_two", "regress_x_to_y"), "inputs", text("no example"))))
                .isInstanceOfSatisfying(GatunException.class, refused -> assertThat(refused.code())
                        .isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("Could not parse example input");
    }

    @Test
    void shouldServeAllVersionsOrTheNewest() {
        assertThat(server.model("two_versions", "").version()).isEqualTo(2);
        assertThat(answer(floats(request("two_versions", ""), "x", Shape.of(1, 1), 2)))
                .containsExactly(4);
    }

    @Test
    void shouldBatchAModelInTritonsLayout() {
        ModelVersion model = server.model("triton_half_plus_two", "");
        assertThat(model.config().getMaxBatchSize()).isEqualTo(4);
        assertThat(model.config().hasDynamicBatching()).isTrue();
        assertThat(answer(floats(request("triton_half_plus_two", "serving_default"), "x", Shape.of(2, 1), 2, 4)))
                .containsExactly(3, 4);
    }

    @Test
    void shouldCarryStringsOfAllLengthsBothWays() {
        byte[] longText = text("x".repeat(1000));
        byte[] binary = {0, -1, 0};
        InferenceRequest request = strings(request("strings", ""), "left", text(""), longText, binary);
        strings(request, "right", text("äöü"), text("end"), text("0"));
        try (request;
                InferenceResponse response = server.infer(request)) {
            List<byte[]> joined = new ArrayList<>();
            for (OutputTensor output : response.outputs()) {
                if (output.tensor().spec().name().equals("joined")) {
                    MemorySegment bytes = output.tensor().bytes();
                    BytesCodec.forEach(
                            bytes,
                            (offset, length) ->
                                    joined.add(bytes.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE)));
                }
            }
            assertThat(joined)
                    .containsExactly(text(" äöü"), text("x".repeat(1000) + " end"), new byte[] {0, -1, 0, ' ', '0'});
        }
        assertThat(answerOf(strings(request("strings", "echo"), "text", longText, text("b"))))
                .isEqualTo(BytesCodec.encodedByteSize(List.of(longText, text("b"))));
    }

    @Test
    void shouldFindTheFilesThatComeWithAModel() {
        try (InferenceRequest request =
                        strings(request("vocabulary", ""), "words", text("two"), text("none"), text("zero"));
                InferenceResponse response = server.infer(request)) {
            assertThat(response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_LONG))
                    .containsExactly(2, -1, 0);
        }
    }

    private long answerOf(InferenceRequest request) {
        try (request;
                InferenceResponse response = server.infer(request)) {
            return response.outputs().getFirst().tensor().bytes().byteSize();
        }
    }

    @Test
    void shouldKeepTheStateOfAModelAndNotTheMemoryOfARequest() {
        assertThat(answer(floats(request("counter", ""), "by", Shape.of(1), 2))).containsExactly(2);
        assertThat(answer(floats(request("counter", ""), "by", Shape.of(1), 3))).containsExactly(5);
        assertThat(answer(request("counter", "read"))).containsExactly(5);
        assertThat(answer(floats(request("counter", "replace"), "next", Shape.of(3), 7, 8, 9)))
                .containsExactly(7, 8, 9);
        // Whatever lies in the memory of that request now.
        answer(floats(request("half_plus_two", ""), "x", Shape.of(3, 1), 1, 1, 1));
        assertThat(answer(request("counter", "read"))).containsExactly(7, 8, 9);
    }

    @Test
    void shouldFreeStringsThatAModelKeptOnceItIsDoneWithThem() {
        for (int i = 0; i < 500; i++) {
            byte[] note = text(i + " ".repeat(1000));
            answerOf(strings(request("notes", ""), "next", note, note));
            // One that the variable keeps; a thread of the engine's may still hold an earlier one.
            assertThat(LiveTensors.count())
                    .as("live tensors after request %d", i)
                    .isBetween(1L, 20L);
        }
        byte[] last = text("499" + " ".repeat(1000));
        assertThat(answerOf(request("notes", "read"))).isEqualTo(BytesCodec.encodedByteSize(List.of(last, last)));
    }

    @Test
    void shouldAnswerManyClientsAtOnceEachWithItsOwnNumbers() throws Exception {
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<float[]>> answers = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                float value = i;
                answers.add(clients.submit(
                        () -> answer(floats(request("half_plus_two", ""), "x", Shape.of(2, 1), value, -value))));
            }
            for (int i = 0; i < answers.size(); i++) {
                assertThat(answers.get(i).get(60, TimeUnit.SECONDS)).containsExactly(i / 2f + 2, 2 - i / 2f);
            }
        }
    }
}
