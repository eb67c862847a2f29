// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import gatun.client.InferResponse;
import gatun.client.MalformedResponseException;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.InferTensorContents;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelInferResponse.InferOutputTensor;
import gatun.wire.inference.ModelStreamInferResponse;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Answers as they come from servers, and as they must not. */
class InferResponseMessageTest {
    private static final long SEED = 20_261_122;

    /** How gRPC shows a message. */
    enum Shown {
        /** Decompressed: nobody knows how long it is. */
        STREAM {
            @Override
            InputStream of(byte[] bytes) {
                return new ByteArrayInputStream(bytes);
            }
        },
        /** As it was received, in heap arrays. */
        KNOWN_LENGTH {
            @Override
            InputStream of(byte[] bytes) {
                return new Known(bytes, false);
            }
        },
        /** As it was received, in buffers of 7 bytes. */
        BUFFERS {
            @Override
            InputStream of(byte[] bytes) {
                return new Known(bytes, true);
            }
        };

        abstract InputStream of(byte[] bytes);
    }

    private static final class Known extends ByteArrayInputStream implements KnownLength, HasByteBuffer {
        private static final int PIECE = 7;
        private final boolean buffers;

        Known(byte[] bytes, boolean buffers) {
            super(bytes);
            this.buffers = buffers;
        }

        @Override
        public boolean byteBufferSupported() {
            return buffers;
        }

        @Override
        public ByteBuffer getByteBuffer() {
            int length = Math.min(PIECE - pos % PIECE, count - pos);
            return ByteBuffer.wrap(buf, pos, length).slice().asReadOnlyBuffer();
        }
    }

    private static InferOutputTensor output(String name, String datatype, long... shape) {
        InferOutputTensor.Builder output =
                InferOutputTensor.newBuilder().setName(name).setDatatype(datatype);
        for (long dim : shape) {
            output.addShape(dim);
        }
        return output.build();
    }

    private static ModelInferResponse usual() {
        return ModelInferResponse.newBuilder()
                .setModelName("model")
                .setModelVersion("3")
                .setId("id")
                .putParameters(
                        "b", InferParameter.newBuilder().setBoolParam(true).build())
                .putParameters(
                        "l", InferParameter.newBuilder().setInt64Param(-5).build())
                .putParameters(
                        "d", InferParameter.newBuilder().setDoubleParam(0.5).build())
                .putParameters(
                        "s", InferParameter.newBuilder().setStringParam("x").build())
                .addOutputs(output("A", "INT32", 2, 2))
                .addOutputs(output("B", "BYTES", 2))
                .addOutputs(output("C", "FP64", 0))
                .addOutputs(output("R", "FP32", 8))
                .addRawOutputContents(bytes(1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0))
                .addRawOutputContents(bytes(1, 0, 0, 0, 'x', 0, 0, 0, 0))
                .addRawOutputContents(ByteString.EMPTY)
                .addRawOutputContents(ByteString.EMPTY)
                .build();
    }

    private static ByteString bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return ByteString.copyFrom(bytes);
    }

    private static InferResponse respond(InputStream stream, String... inRegions) {
        try (InferResponseMessage reply = InferResponseMessage.parse(stream)) {
            return reply.toResponse(ResponseFields.parse(reply.head(), reply.headSize()), output -> List.of(inRegions)
                    .contains(output));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadAllThatAnAnswerSays(Shown shown) {
        try (InferResponse response = respond(shown.of(usual().toByteArray()), "R")) {
            assertThat(response.model()).isEqualTo("model");
            assertThat(response.version()).isEqualTo("3");
            assertThat(response.id()).isEqualTo("id");
            assertThat(response.parameters())
                    .containsEntry("b", true)
                    .containsEntry("l", -5L)
                    .containsEntry("d", 0.5)
                    .containsEntry("s", "x");
            assertThat(response.ints("A")).containsExactly(1, 2, 3, 4);
            assertThat(response.strings("B")).containsExactly("x", "");
            assertThat(response.doubles("C")).isEmpty();
            assertThat(response.output("A").bytes().address() % 64).isZero();
            assertThat(response.inRegions()).extracting(TensorSpec::name).containsExactly("R");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadWhatAStreamBrings(Shown shown) {
        byte[] message = ModelStreamInferResponse.newBuilder()
                .setErrorMessage("went wröng")
                .setInferResponse(usual())
                .build()
                .toByteArray();
        try (InferResponseMessage reply = InferResponseMessage.parseStreamed(shown.of(message))) {
            assertThat(reply.error()).isEqualTo("went wröng");
            assertThat(ResponseFields.parse(reply.head(), reply.headSize()).id())
                    .isEqualTo("id");
            try (InferResponse response =
                    reply.toResponse(ResponseFields.parse(reply.head(), reply.headSize()), "R"::equals)) {
                assertThat(response.ints("A")).containsExactly(1, 2, 3, 4);
            }
        }
    }

    @Test
    void shouldTakeFewerBytesWhereRegionsHaveNone() {
        ModelInferResponse message = ModelInferResponse.newBuilder()
                .addOutputs(output("R", "FP32", 8))
                .addOutputs(output("A", "INT8", 2))
                .addRawOutputContents(bytes(7, 8))
                .build();
        try (InferResponse response = respond(Shown.KNOWN_LENGTH.of(message.toByteArray()), "R")) {
            assertThat(response.bytes("A")).containsExactly(7, 8);
            assertThat(response.inRegions()).extracting(TensorSpec::name).containsExactly("R");
        }
    }

    @Test
    void shouldReadValuesThatOtherServersPutInTheMessage() {
        ModelInferResponse message = ModelInferResponse.newBuilder()
                .addOutputs(output("bool", "BOOL", 2).toBuilder()
                        .setContents(InferTensorContents.newBuilder()
                                .addBoolContents(true)
                                .addBoolContents(false)))
                .addOutputs(output("int8", "INT8", 1).toBuilder()
                        .setContents(InferTensorContents.newBuilder().addIntContents(-3)))
                .addOutputs(output("uint16", "UINT16", 1).toBuilder()
                        .setContents(InferTensorContents.newBuilder().addUintContents(65_535)))
                .addOutputs(output("int32", "INT32", 1).toBuilder()
                        .setContents(InferTensorContents.newBuilder().addIntContents(-70_000)))
                .addOutputs(output("int64", "INT64", 1).toBuilder()
                        .setContents(InferTensorContents.newBuilder().addInt64Contents(Long.MIN_VALUE)))
                .addOutputs(output("uint64", "UINT64", 1).toBuilder()
                        .setContents(InferTensorContents.newBuilder().addUint64Contents(-1)))
                .addOutputs(output("fp32", "FP32", 2).toBuilder()
                        .setContents(InferTensorContents.newBuilder()
                                .addFp32Contents(1.5f)
                                .addFp32Contents(2)))
                .addOutputs(output("fp64", "FP64", 1).toBuilder()
                        .setContents(InferTensorContents.newBuilder().addFp64Contents(2.5)))
                .addOutputs(output("bytes", "BYTES", 2).toBuilder()
                        .setContents(InferTensorContents.newBuilder()
                                .addBytesContents(ByteString.copyFromUtf8("ü"))
                                .addBytesContents(ByteString.EMPTY)))
                .build();
        try (InferResponse response = respond(Shown.STREAM.of(message.toByteArray()))) {
            assertThat(response.booleans("bool")).containsExactly(true, false);
            assertThat(response.bytes("int8")).containsExactly(-3);
            assertThat(response.shorts("uint16")).containsExactly(-1);
            assertThat(response.ints("int32")).containsExactly(-70_000);
            assertThat(response.longs("int64")).containsExactly(Long.MIN_VALUE);
            assertThat(response.longs("uint64")).containsExactly(-1);
            assertThat(response.floats("fp32")).containsExactly(1.5f, 2);
            assertThat(response.doubles("fp64")).containsExactly(2.5);
            assertThat(response.strings("bytes")).containsExactly("ü", "");
        }
    }

    @Test
    void shouldRefuseBytesThatDoNotAddUp() {
        ModelInferResponse.Builder message = ModelInferResponse.newBuilder().addOutputs(output("A", "INT32", 2));
        refused(message.build(), "has 0 bytes for output 'A' INT32 [2]");
        refused(message.clone().addRawOutputContents(bytes(1, 2, 3)).build(), "has 3 bytes for output 'A'");
        refused(
                message.clone()
                        .addRawOutputContents(bytes(1, 2, 3, 4, 5, 6, 7, 8))
                        .addRawOutputContents(bytes(1))
                        .build(),
                "expected as many");
        refused(
                ModelInferResponse.newBuilder()
                        .addOutputs(output("B", "BYTES", 2))
                        .addRawOutputContents(bytes(1, 0, 0, 0, 'x'))
                        .build(),
                "has 5 bytes for output 'B'");
        refused(
                ModelInferResponse.newBuilder()
                        .addOutputs(output("X", "COMPLEX", 1))
                        .addRawOutputContents(bytes(1))
                        .build(),
                "for output 'X' " + Datatype.INVALID);
        refused(
                ModelInferResponse.newBuilder()
                        .addOutputs(output("A", "FP16", 1).toBuilder()
                                .setContents(InferTensorContents.newBuilder().addIntContents(1)))
                        .build(),
                "expected raw bytes");
    }

    private static void refused(ModelInferResponse message, String text) {
        assertThatExceptionOfType(MalformedResponseException.class)
                .isThrownBy(() -> respond(Shown.KNOWN_LENGTH.of(message.toByteArray())))
                .withMessageContaining(text);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseEveryAnswerThatIsCutOff(Shown shown) {
        byte[] whole = usual().toByteArray();
        byte[] streamed = ModelStreamInferResponse.newBuilder()
                .setErrorMessage("e")
                .setInferResponse(usual())
                .build()
                .toByteArray();
        for (int length = 0; length < whole.length; length++) {
            expectOrRefuse(shown.of(Arrays.copyOf(whole, length)), false);
        }
        int complete = 0;
        for (int length = 0; length < streamed.length; length++) {
            complete += expectOrRefuse(shown.of(Arrays.copyOf(streamed, length)), true) ? 1 : 0;
        }
        // Nothing at all, and before the nested response.
        assertThat(complete).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseOrReadWhateverComes(Shown shown) {
        Random random = new Random(SEED);
        byte[] whole = usual().toByteArray();
        for (int i = 0; i < 20_000; i++) {
            byte[] damaged = whole.clone();
            for (int flips = random.nextInt(1, 4); flips > 0; flips--) {
                damaged[random.nextInt(damaged.length)] = (byte) random.nextInt();
            }
            boolean ignored = expectOrRefuse(shown.of(damaged), random.nextBoolean());
        }
    }

    /** Nothing but the one exception may come. Returns whether it was well formed. */
    private static boolean expectOrRefuse(InputStream stream, boolean streamed) {
        try (InferResponseMessage reply =
                        streamed ? InferResponseMessage.parseStreamed(stream) : InferResponseMessage.parse(stream);
                InferResponse response =
                        reply.toResponse(ResponseFields.parse(reply.head(), reply.headSize()), "R"::equals)) {
            response.outputs()
                    .forEach(tensor -> assertThat(tensor.bytes().byteSize()).isNotNegative());
            return true;
        } catch (MalformedResponseException e) {
            assertThat(e.getMessage()).isNotEmpty();
            return false;
        }
    }
}
