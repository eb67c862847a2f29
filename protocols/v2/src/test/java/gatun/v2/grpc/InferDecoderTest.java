// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.spi.ParameterValue;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InferDecoderTest {
    private final InferDecoder decoder = new InferDecoder(RequestLimits.STANDARD, new HeapBudget(64 << 20));
    private final AtomicInteger closed = new AtomicInteger();

    private InferMessage decode(byte[] bytes) {
        return decoder.decode(MemorySegment.ofArray(bytes), closed::incrementAndGet);
    }

    private static ModelInferRequest.Builder complete() {
        return ModelInferRequest.newBuilder()
                .setModelName("model-ä")
                .setModelVersion("12")
                .setId("request 7")
                .putParameters(
                        "b", InferParameter.newBuilder().setBoolParam(true).build())
                .putParameters(
                        "i", InferParameter.newBuilder().setInt64Param(-5).build())
                .putParameters(
                        "s", InferParameter.newBuilder().setStringParam("text").build())
                .putParameters(
                        "d", InferParameter.newBuilder().setDoubleParam(0.25).build())
                .putParameters(
                        "u", InferParameter.newBuilder().setUint64Param(-1L).build())
                .putParameters("none", InferParameter.getDefaultInstance())
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName("INPUT0")
                        .setDatatype("INT32")
                        .addShape(1)
                        .addShape(-1)
                        .addShape(1L << 40)
                        .putParameters(
                                "binary_data_size",
                                InferParameter.newBuilder().setInt64Param(64).build()))
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName("INPUT1")
                        .setDatatype("int32"))
                .addOutputs(ModelInferRequest.InferRequestedOutputTensor.newBuilder()
                        .setName("OUTPUT0")
                        .putParameters(
                                "classification",
                                InferParameter.newBuilder().setInt64Param(3).build()))
                .addRawInputContents(ByteString.copyFromUtf8("first"))
                .addRawInputContents(ByteString.EMPTY)
                .addRawInputContents(ByteString.copyFromUtf8("third"));
    }

    @Test
    void shouldReadEveryField() {
        InferMessage message = decode(complete().build().toByteArray());

        assertThat(message.modelName()).isEqualTo("model-ä");
        assertThat(message.modelVersion()).isEqualTo("12");
        assertThat(message.id()).isEqualTo("request 7");
        assertThat(message.parameters)
                .containsExactlyInAnyOrder(
                        new InferMessage.Parameter("b", Optional.of(new ParameterValue.Bool(true))),
                        new InferMessage.Parameter("i", Optional.of(new ParameterValue.Int64(-5))),
                        new InferMessage.Parameter("s", Optional.of(new ParameterValue.Text("text"))),
                        new InferMessage.Parameter("d", Optional.of(new ParameterValue.Fp64(0.25))),
                        new InferMessage.Parameter("u", Optional.of(new ParameterValue.Uint64(-1))),
                        new InferMessage.Parameter("none", Optional.empty()));
        InferMessage.Input input = message.inputs.getFirst();
        assertThat(input.name()).isEqualTo("INPUT0");
        assertThat(input.datatype()).isEqualTo(Datatype.INT32);
        assertThat(input.spec().shape()).isEqualTo(Shape.of(1, -1, 1L << 40));
        assertThat(input.parameters())
                .containsExactly(
                        new InferMessage.Parameter("binary_data_size", Optional.of(new ParameterValue.Int64(64))));
        assertThat(input.contents().isPresent()).isFalse();
        assertThat(message.inputs.get(1).datatype()).isEqualTo(Datatype.INVALID);
        assertThat(message.inputs.get(1).spec().shape().rank()).isZero();
        assertThat(message.outputs.getFirst().name).isEqualTo("OUTPUT0");
        assertThat(message.rawCount()).isEqualTo(3);
        assertThat(message.raw(0).toArray(ValueLayout.JAVA_BYTE)).asString().isEqualTo("first");
        assertThat(message.raw(1).byteSize()).isZero();
        assertThat(message.raw(2).toArray(ValueLayout.JAVA_BYTE)).asString().isEqualTo("third");
    }

    @Test
    void shouldOwnItsMemoryUntilSomebodyTakesIt() {
        byte[] bytes = complete().build().toByteArray();
        decode(bytes).close();
        assertThat(closed).hasValue(1);

        InferMessage taken = decode(bytes);
        taken.takeOwnership();
        taken.close();
        assertThat(closed).hasValue(1);
    }

    @Test
    void shouldPassOverFieldsItDoesNotKnow() {
        UnknownFieldSet unknown = UnknownFieldSet.newBuilder()
                .addField(
                        100,
                        UnknownFieldSet.Field.newBuilder()
                                .addVarint(1)
                                .addFixed32(2)
                                .addFixed64(3)
                                .addLengthDelimited(ByteString.copyFromUtf8("x"))
                                .addGroup(UnknownFieldSet.newBuilder()
                                        .addField(
                                                1,
                                                UnknownFieldSet.Field.newBuilder()
                                                        .addVarint(9)
                                                        .build())
                                        .build())
                                .build())
                .build();
        ModelInferRequest.Builder request = complete().setUnknownFields(unknown);
        request.getInputsBuilder(0).setUnknownFields(unknown);
        request.getOutputsBuilder(0).setUnknownFields(unknown);

        InferMessage message = decode(request.build().toByteArray());

        assertThat(message.inputs).hasSize(2);
        assertThat(message.inputs.getFirst().name()).isEqualTo("INPUT0");
        assertThat(message.rawCount()).isEqualTo(3);
    }

    private static ModelInferRequest.InferInputTensor input(String name, String datatype, long dim) {
        return ModelInferRequest.InferInputTensor.newBuilder()
                .setName(name)
                .setDatatype(datatype)
                .addShape(dim)
                .build();
    }

    @Test
    void shouldTellInputsApartThatDifferInOneByte() {
        List<ModelInferRequest.InferInputTensor> inputs = List.of(
                input("INPUT0", "INT32", 16),
                input("INPUT1", "INT32", 16),
                input("INPUT0", "INT64", 16),
                input("INPUT0", "INT32", 17));
        byte[] bytes =
                ModelInferRequest.newBuilder().addAllInputs(inputs).build().toByteArray();
        for (int i = 0; i < 2; i++) {
            InferMessage message = decode(bytes);

            assertThat(message.inputs)
                    .extracting(InferMessage.Input::spec)
                    .containsExactly(
                            new TensorSpec("INPUT0", Datatype.INT32, Shape.of(16)),
                            new TensorSpec("INPUT1", Datatype.INT32, Shape.of(16)),
                            new TensorSpec("INPUT0", Datatype.INT64, Shape.of(16)),
                            new TensorSpec("INPUT0", Datatype.INT32, Shape.of(17)));
        }
    }

    @Test
    void shouldShareNoInputThatHasMoreThanNameDatatypeAndShape() {
        byte[] bytes = complete().build().toByteArray();

        assertThat(decode(bytes).inputs.getFirst())
                .isNotSameAs(decode(bytes).inputs.getFirst());
    }

    /** Whether a request is within the limits does not depend on those before. */
    @Test
    void shouldCountWhatItHasReadBefore() {
        // "INPUT0" and "INT32" have 11 bytes.
        InferDecoder limited =
                new InferDecoder(new RequestLimits(64, 3 * 11 - 1, 2, 2, 1024), new HeapBudget(64 << 20));
        ModelInferRequest.Builder two = ModelInferRequest.newBuilder()
                .addInputs(input("INPUT0", "INT32", 16))
                .addInputs(input("INPUT0", "INT32", 16));
        byte[] within = two.build().toByteArray();
        byte[] beyond = two.addInputs(input("INPUT0", "INT32", 16)).build().toByteArray();
        byte[] texts = ModelInferRequest.newBuilder()
                .setId("another id")
                .addInputs(input("INPUT0", "INT32", 16))
                .addInputs(input("INPUT0", "INT32", 16))
                .setModelName("m")
                .build()
                .toByteArray();
        for (int i = 0; i < 3; i++) {
            assertThat(limited.decode(MemorySegment.ofArray(within), () -> {}).inputCount())
                    .isEqualTo(2);
            assertThatThrownBy(() -> limited.decode(MemorySegment.ofArray(beyond), () -> {}))
                    .hasMessageContaining("3 inputs");
            assertThatThrownBy(() -> limited.decode(MemorySegment.ofArray(texts), () -> {}))
                    .hasMessageContaining("33 bytes");
        }
    }

    @Test
    void shouldReadShapesThatAreNotPacked() {
        // input { shape: 2 shape: 300 }, each dimension a field of its own
        InferMessage message = decode(new byte[] {0x2a, 5, 0x18, 2, 0x18, (byte) 0xac, 2});

        assertThat(message.inputs.getFirst().spec().shape()).isEqualTo(Shape.of(2, 300));
    }

    @ParameterizedTest
    @CsvSource({
        "0a, cut off",
        "0a05 41, 5 bytes where 1 are left",
        "ffffffffffffffffffff01, more than 64 bits",
        "00, field number",
        "0e, wire type 6",
        "0c, wire type 4",
        "0a02 c328, UTF-8",
        "2a04 0aff0141, bytes where",
        "2a03 1a0280, bytes where",
        "2a02 18ff, cut off",
        "2a06 2a04 3203 0000, bytes where",
        "2a07 2a05 3203 000000, multiple of 4",
        "3a8080808010, bytes where",
        "3affffffffffffffffff01, bytes where"
    })
    void shouldSayWhatIsWrongWithAMalformedMessage(String hex, String reason) {
        byte[] bytes = java.util.HexFormat.of().parseHex(hex.replace(" ", ""));

        assertThatThrownBy(() -> decode(bytes))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("the request message is not valid")
                .hasMessageContaining(reason);
        assertThat(closed).hasValue(0);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldSurviveDamagedMessages(long seed) {
        Random random = new Random(seed);
        byte[] good = complete()
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setContents(gatun.wire.inference.InferTensorContents.newBuilder()
                                .addAllIntContents(List.of(1, -2, 3))
                                .addFp32Contents(1)
                                .addBytesContents(ByteString.copyFromUtf8("abc"))))
                .build()
                .toByteArray();
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] damaged = java.util.Arrays.copyOf(good, 1 + random.nextInt(good.length));
            for (int k = random.nextInt(4); k > 0; k--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            try {
                InferMessage message = decode(damaged);
                for (int r = 0; r < message.rawCount(); r++) {
                    assertThat(message.raw(r).byteSize()).isLessThanOrEqualTo(damaged.length);
                }
            } catch (GatunException e) {
                assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }
}
