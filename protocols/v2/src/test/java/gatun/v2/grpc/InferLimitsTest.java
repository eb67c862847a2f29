// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.google.protobuf.ByteString;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages whose parts would take more of the heap than a request may: each is refused before it is made. */
class InferLimitsTest {
    private static final long BUDGET = 8 << 20;

    private final HeapBudget heap = new HeapBudget(BUDGET);
    private final InferDecoder decoder = new InferDecoder(RequestLimits.STANDARD, heap);

    private InferMessage decode(byte[] bytes) {
        return decoder.decode(MemorySegment.ofArray(bytes), () -> {});
    }

    private static byte[] repeated(int count, int... field) {
        byte[] bytes = new byte[count * field.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) field[i % field.length];
        }
        return bytes;
    }

    /** An input of which {@code field} is repeated. */
    private static byte[] inputOf(int... field) {
        return ByteString.fromHex("2a80808010")
                .concat(ByteString.copyFrom(repeated((32 << 20) / field.length, field)))
                .toByteArray();
    }

    private static byte[] message(ModelInferRequest.Builder request) {
        return request.build().toByteArray();
    }

    static Stream<Arguments> attacks() {
        String longText = "x".repeat((64 << 10) + 1);
        ModelInferRequest.Builder longNames = ModelInferRequest.newBuilder();
        for (int i = 0; i < 20; i++) {
            longNames.addInputsBuilder().setName("x".repeat(60 << 10));
        }
        int millions = 10_000_000;
        return Stream.of(
                Arguments.of("outputs", repeated(millions, 0x32, 0), "4097 outputs", "limit-tensors"),
                Arguments.of("inputs", repeated(millions, 0x2a, 0), "4097 inputs", "limit-tensors"),
                Arguments.of("parameters", repeated(millions, 0x22, 0), "1025 parameters", "limit-parameters"),
                Arguments.of("raw inputs", repeated(millions, 0x3a, 0), "4097 pieces", "limit-tensors"),
                Arguments.of("parameters of an input", inputOf(0x22, 0), "1025 parameters", "limit-parameters"),
                Arguments.of("pieces of contents", inputOf(0x2a, 0), "4097 pieces", "limit-tensors"),
                Arguments.of(
                        "dimensions",
                        repeated(1_000_000, 0x2a, 18, 0x1a, 16, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
                        "4097 inputs",
                        "limit-tensors"),
                Arguments.of(
                        "a long id",
                        message(ModelInferRequest.newBuilder().setId(longText)),
                        "the request's id",
                        "limit-text"),
                Arguments.of(
                        "a long name of a model",
                        message(ModelInferRequest.newBuilder().setModelName(longText)),
                        "the model's name",
                        "limit-text"),
                Arguments.of(
                        "a long value",
                        message(ModelInferRequest.newBuilder()
                                .putParameters(
                                        "a",
                                        InferParameter.newBuilder()
                                                .setStringParam(longText)
                                                .build())),
                        "a parameter's value",
                        "limit-text"),
                Arguments.of("many long names", message(longNames), "the texts of the request", "limit-texts"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("attacks")
    void shouldRefuseWhatIsMoreThanARequestMayHold(String name, byte[] message, String what, String flag) {
        assertTimeoutPreemptively(Duration.ofSeconds(10), () -> assertThatThrownBy(() -> decode(message))
                .hasMessageContaining(what)
                .hasMessageContaining(flag)
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_EXHAUSTED)));
        assertThat(heap.usedBytes()).as("heap that stays reserved").isZero();
    }

    @Test
    void shouldRefuseMoreDimensionsThanAllTensorsMayHave() {
        ModelInferRequest.Builder request = ModelInferRequest.newBuilder();
        for (int i = 0; i < 70; i++) {
            ModelInferRequest.InferInputTensor.Builder input = request.addInputsBuilder();
            for (int k = 0; k < 1000; k++) {
                input.addShape(1);
            }
        }

        assertThatThrownBy(() -> decode(message(request)))
                .hasMessageContaining("65537 dimensions")
                .hasMessageContaining("limit-tensors");
    }

    @Test
    void shouldReserveTheHeapOfAMessageWithManyPartsUntilItIsGone() {
        InferMessage message = decode(repeated(2000, 0x2a, 0));

        assertThat(heap.usedBytes()).isGreaterThan(2000 * 100);
        message.takeOwnership().close();
        assertThat(heap.usedBytes()).isZero();
    }

    @Test
    void shouldReserveNoHeapForAnOrdinaryMessage() {
        ModelInferRequest.Builder request =
                ModelInferRequest.newBuilder().setModelName("m").setId("1");
        request.addInputsBuilder()
                .setName("INPUT0")
                .setDatatype("FP32")
                .addShape(1)
                .addShape(16);
        request.addInputsBuilder()
                .setName("INPUT1")
                .setDatatype("FP32")
                .addShape(1)
                .addShape(16);
        request.addOutputsBuilder().setName("OUTPUT0");

        InferMessage message = decode(message(request));

        assertThat(heap.usedBytes()).isZero();
        message.close();
    }

    @Test
    void shouldRefuseForAWhileWhenOthersHaveTheHeap() {
        heap.reserve(BUDGET);

        assertThatThrownBy(() -> decode(repeated(2000, 0x2a, 0)))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
    }
}
