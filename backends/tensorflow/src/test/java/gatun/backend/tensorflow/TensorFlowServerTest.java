// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelVersion;
import gatun.runtime.RequestedOutput;
import gatun.spi.EntryPoint;
import gatun.wire.tensorflow.Example;
import gatun.wire.tensorflow.Feature;
import gatun.wire.tensorflow.Features;
import gatun.wire.tensorflow.FloatList;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The models of {@code examples/tensorflow}. Each test ends with nothing left open. */
@Timeout(120)
class TensorFlowServerTest {
    private ServedModels models;

    @BeforeEach
    void open() {
        models = ServedModels.open(ServedModels.EXAMPLES);
    }

    @AfterEach
    void close() {
        if (models != null) {
            models.close();
        }
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
        ModelVersion model = models.server().model("half_plus_two", "");
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
        assertThat(Objects.requireNonNull(regress).method()).isEqualTo("tensorflow/serving/regress");
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
        assertThat(models.answer(models.floats(models.request("half_plus_two", ""), "x", Shape.of(3, 1), 1, 2, 5)))
                .containsExactly(2.5f, 3, 4.5f);
        assertThat(models.answer(
                        models.floats(models.request("half_plus_three", "serving_default"), "x", Shape.of(3), 1, 2, 5)))
                .containsExactly(3.5f, 4, 5.5f);
        assertThatThrownBy(() ->
                        models.answer(models.floats(models.request("half_plus_two", ""), "x", Shape.of(3), 1, 2, 5)))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("unexpected shape for input 'x'");
    }

    @Test
    void shouldRegressAndClassifyExamples() {
        assertThat(models.answer(models.strings(
                        models.request("half_plus_two", "regress_x_to_y"), "inputs", example("x", 2), example("x", 4))))
                .containsExactly(3, 4);
        assertThat(models.answer(models.strings(
                        models.request("half_plus_two", "classify_x2_to_y3"), "inputs", example("x2", 2))))
                .containsExactly(4);
    }

    @Test
    void shouldTellTheClientWhatTheEngineRefuses() {
        assertThatThrownBy(() -> models.answer(models.strings(
                        models.request("half_plus_two", "regress_x_to_y"), "inputs", ServedModels.text("no example"))))
                .isInstanceOfSatisfying(GatunException.class, refused -> assertThat(refused.code())
                        .isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("Could not parse example input");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "serving_default"})
    void shouldFillInTheDefaultsOfASignature(String entryPoint) {
        for (int i = 0; i < 3; i++) {
            InferenceRequest some = models.floats(models.request("defaults", entryPoint), "x", Shape.of(2), 1, 2);
            some.addOutput(RequestedOutput.of("y"));
            assertThat(models.answer(some)).containsExactly(2, 4);
        }
        InferenceRequest all = models.floats(
                models.request("defaults", entryPoint), "by", entryPoint.isEmpty() ? Shape.of(1) : Shape.of(), 10);
        models.floats(all, "x", Shape.of(2), 1, 2);
        models.strings(all, "note", ServedModels.text("mine"));
        all.addOutput(RequestedOutput.of("y"));
        assertThat(models.answer(all)).containsExactly(10, 20);
        InferenceRequest note = models.floats(models.request("defaults", entryPoint), "x", Shape.of(1), 1);
        note.addOutput(RequestedOutput.of("note"));
        assertThat(models.bytes(note)).containsExactly(4, 0, 0, 0, 'n', 'o', 'n', 'e');
    }

    @Test
    void shouldRequireTheInputsWithoutDefaults() {
        assertThatThrownBy(() -> models.answer(models.floats(models.request("defaults", ""), "by", Shape.of(), 10)))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("defaults");
    }

    /** Name and shape of each output of the model that multiplies by a number. */
    private List<String> scaled(String entryPoint, Shape number) {
        InferenceRequest request = models.floats(models.request("scalars", entryPoint), "x", Shape.of(3), 1, 2, 4);
        models.floats(request, "by", number, 10);
        try (request;
                InferenceResponse response = models.server().infer(request)) {
            return response.outputs().stream()
                    .map(output -> output.tensor().spec())
                    .map(spec -> spec.name() + spec.shape())
                    .sorted()
                    .toList();
        }
    }

    @Test
    void shouldTakeAndGiveScalars() {
        assertThat(scaled("serving_default", Shape.of())).containsExactly("sum[]", "y[3]");
        assertThat(scaled("", Shape.of(1)))
                .as("a configuration has no shape without dimensions")
                .containsExactly("sum[1]", "y[3]");
    }

    @Test
    void shouldServeAllVersionsOrTheNewest() {
        assertThat(models.server().model("two_versions", "").version()).isEqualTo(2);
        assertThat(models.answer(models.floats(models.request("two_versions", ""), "x", Shape.of(1, 1), 2)))
                .containsExactly(4);
    }

    @Test
    void shouldBatchAModelInTritonsLayout() {
        ModelVersion model = models.server().model("triton_half_plus_two", "");
        assertThat(model.config().getMaxBatchSize()).isEqualTo(4);
        assertThat(model.config().hasDynamicBatching()).isTrue();
        assertThat(models.answer(models.floats(
                        models.request("triton_half_plus_two", "serving_default"), "x", Shape.of(2, 1), 2, 4)))
                .containsExactly(3, 4);
    }

    @Test
    void shouldCarryStringsOfAllLengthsBothWays() {
        byte[] longText = ServedModels.text("x".repeat(1000));
        byte[] binary = {0, -1, 0};
        InferenceRequest request =
                models.strings(models.request("strings", ""), "left", ServedModels.text(""), longText, binary);
        models.strings(request, "right", ServedModels.text("äöü"), ServedModels.text("end"), ServedModels.text("0"));
        try (request;
                InferenceResponse response = models.server().infer(request)) {
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
                    .containsExactly(
                            ServedModels.text(" äöü"),
                            ServedModels.text("x".repeat(1000) + " end"),
                            new byte[] {0, -1, 0, ' ', '0'});
        }
        assertThat(models.bytes(
                        models.strings(models.request("strings", "echo"), "text", longText, ServedModels.text("b"))))
                .hasSize((int) BytesCodec.encodedByteSize(List.of(longText, ServedModels.text("b"))));
    }

    private long counted(long to, Duration patience) {
        InferenceRequest request = models.request("loop", "serving_default");
        models.input(request, new TensorSpec("to", Datatype.INT64, Shape.of()), Long.BYTES)
                .set(ValueLayout.JAVA_LONG, 0, to);
        request.timeLeftNanos(patience.toNanos());
        return ByteBuffer.wrap(models.bytes(request))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong();
    }

    @Test
    void shouldEndARunWhenNobodyWaitsForItAnyMore() {
        assertThatThrownBy(() -> counted(Long.MAX_VALUE, Duration.ofMillis(100)))
                .isInstanceOfSatisfying(
                        GatunException.class, ended -> assertThat(ended.code()).isEqualTo(ErrorCode.CANCELLED))
                .hasMessageContaining("Timed out waiting for notification");
        assertThat(counted(1000, Duration.ofMinutes(2))).isEqualTo(1000);
    }

    @Test
    void shouldFindTheFilesThatComeWithAModel() {
        try (InferenceRequest request = models.strings(
                        models.request("vocabulary", ""),
                        "words",
                        ServedModels.text("two"),
                        ServedModels.text("none"),
                        ServedModels.text("zero"));
                InferenceResponse response = models.server().infer(request)) {
            assertThat(response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_LONG))
                    .containsExactly(2, -1, 0);
        }
    }

    @Test
    void shouldKeepTheStateOfAModelAndNotTheMemoryOfARequest() {
        assertThat(models.answer(models.floats(models.request("counter", ""), "by", Shape.of(1), 2)))
                .containsExactly(2);
        assertThat(models.answer(models.floats(models.request("counter", ""), "by", Shape.of(1), 3)))
                .containsExactly(5);
        assertThat(models.answer(models.request("counter", "read"))).containsExactly(5);
        assertThat(models.answer(models.floats(models.request("counter", "replace"), "next", Shape.of(3), 7, 8, 9)))
                .containsExactly(7, 8, 9);
        // Whatever lies in the memory of that request now.
        models.answer(models.floats(models.request("half_plus_two", ""), "x", Shape.of(3, 1), 1, 1, 1));
        assertThat(models.answer(models.request("counter", "read"))).containsExactly(7, 8, 9);
    }

    @Test
    void shouldFreeStringsThatAModelKeptOnceItIsDoneWithThem() {
        for (int i = 0; i < 500; i++) {
            byte[] note = ServedModels.text(i + " ".repeat(1000));
            models.bytes(models.strings(models.request("notes", ""), "next", note, note));
            // One that the variable keeps; a thread of the engine's may still hold an earlier one.
            assertThat(LiveTensors.count())
                    .as("live tensors after request %d", i)
                    .isBetween(1L, 20L);
        }
        byte[] last = ServedModels.text("499" + " ".repeat(1000));
        assertThat(models.bytes(models.request("notes", "read")))
                .hasSize((int) BytesCodec.encodedByteSize(List.of(last, last)));
    }

    @Test
    void shouldAnswerManyClientsAtOnceEachWithItsOwnNumbers() throws Exception {
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<float[]>> responses = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                float value = i;
                responses.add(clients.submit(() -> models.answer(
                        models.floats(models.request("half_plus_two", ""), "x", Shape.of(2, 1), value, -value))));
            }
            for (int i = 0; i < responses.size(); i++) {
                assertThat(responses.get(i).get(60, TimeUnit.SECONDS)).containsExactly(i / 2f + 2, 2 - i / 2f);
            }
        }
    }
}
