// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static gatun.v2.grpc.ServiceFixture.input;
import static gatun.v2.grpc.ServiceFixture.rawRequests;
import static gatun.v2.grpc.ServiceFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.memory.tensor.Datatype;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.InferTensorContents;
import gatun.wire.inference.ModelInferResponse;
import io.grpc.CallOptions;
import io.grpc.stub.ClientCalls;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tensor data as typed elements of the message. */
@Timeout(60)
class TypedContentsTest {
    @RegisterExtension
    final ServiceFixture service = new ServiceFixture();

    private final GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub stub = service.stub();

    @ParameterizedTest
    @EnumSource(
            value = Datatype.class,
            names = {
                "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP32", "FP64",
                "BYTES"
            })
    void shouldWriteTypedContentsAsTheDatatypeAsks(Datatype datatype) {
        InferTensorContents.Builder contents = InferTensorContents.newBuilder();
        ByteBuffer expected = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        switch (datatype) {
            case BOOL -> {
                contents.addBoolContents(true).addBoolContents(false);
                expected.put((byte) 1).put((byte) 0);
            }
            case UINT8 -> {
                contents.addUintContents(255).addUintContents(256 + 7);
                expected.put((byte) 255).put((byte) 7);
            }
            case UINT16 -> {
                contents.addUintContents(65_535).addUintContents(1);
                expected.putShort((short) 65_535).putShort((short) 1);
            }
            case UINT32 -> {
                contents.addUintContents(-1).addUintContents(5);
                expected.putInt(-1).putInt(5);
            }
            case UINT64 -> {
                contents.addUint64Contents(-1).addUint64Contents(1L << 40);
                expected.putLong(-1).putLong(1L << 40);
            }
            case INT8 -> {
                contents.addIntContents(-1).addIntContents(127);
                expected.put((byte) -1).put((byte) 127);
            }
            case INT16 -> {
                contents.addIntContents(-2).addIntContents(300);
                expected.putShort((short) -2).putShort((short) 300);
            }
            case INT32 -> {
                contents.addIntContents(Integer.MIN_VALUE).addIntContents(3);
                expected.putInt(Integer.MIN_VALUE).putInt(3);
            }
            case INT64 -> {
                contents.addInt64Contents(Long.MIN_VALUE).addInt64Contents(-1);
                expected.putLong(Long.MIN_VALUE).putLong(-1);
            }
            case FP32 -> {
                contents.addFp32Contents(1.5f).addFp32Contents(Float.NaN);
                expected.putFloat(1.5f).putFloat(Float.NaN);
            }
            case FP64 -> {
                contents.addFp64Contents(-0.0).addFp64Contents(1e300);
                expected.putDouble(-0.0).putDouble(1e300);
            }
            case BYTES -> {
                contents.addBytesContents(ByteString.copyFromUtf8("añb")).addBytesContents(ByteString.EMPTY);
                expected.putInt(4)
                        .put(ByteString.copyFromUtf8("añb").toByteArray())
                        .putInt(0);
            }
            default -> throw new AssertionError("has no typed contents");
        }

        ModelInferResponse response = stub.modelInfer(request()
                .addInputs(input("A", datatype.wireName(), 2).setContents(contents))
                .build());

        assertThat(response.getRawOutputContents(0))
                .isEqualTo(ByteString.copyFrom(expected.array(), 0, expected.position()));
    }

    @Test
    void shouldReadAMillionTypedElements() {
        InferTensorContents.Builder contents = InferTensorContents.newBuilder();
        for (int i = 0; i < 1_000_000; i++) {
            contents.addIntContents(i * 31);
        }

        ByteBuffer answer = stub.modelInfer(request()
                        .addInputs(input("A", "INT32", 1_000_000).setContents(contents))
                        .build())
                .getRawOutputContents(0)
                .asReadOnlyByteBuffer()
                .order(ByteOrder.LITTLE_ENDIAN);

        assertThat(answer.remaining()).isEqualTo(4_000_000);
        assertThat(answer.getInt(4 * 999_999)).isEqualTo(999_999 * 31);
        assertThat(answer.getInt(4 * 123_456)).isEqualTo(123_456 * 31);
    }

    @Test
    void shouldReadTypedElementsThatAreNotPacked() {
        // inputs { name: "A" datatype: "INT32" shape: 2 contents { int_contents: 5 int_contents: 6 } }
        byte[] bytes = java.util.HexFormat.of()
                .parseHex("0a046563686f" + "2a12" + "0a0141" + "1205494e543332" + "1802" + "2a04" + "10051006");

        ModelInferResponse response =
                ClientCalls.blockingUnaryCall(service.channel(), rawRequests(), CallOptions.DEFAULT, bytes);

        assertThat(response.getRawOutputContents(0).toByteArray()).containsExactly(5, 0, 0, 0, 6, 0, 0, 0);
    }
}
