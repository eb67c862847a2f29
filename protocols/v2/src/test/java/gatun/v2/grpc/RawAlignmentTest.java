// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.grpc.message.RawMessage.RawAlignment;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.runtime.InferenceRequest;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.wire.inference.ModelInferRequest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RawAlignmentTest {
    private final BufferPool pool = new BufferPool(1 << 20);
    private final FakeServer server = new FakeServer();
    private final InferenceRequest request = new InferenceRequest(server.model(FakeServer.MODEL, ""));

    @AfterEach
    void close() {
        request.close();
        assertThat(pool.usedBytes()).isZero();
        pool.close();
        server.close();
    }

    /** Puts a message where the connection would and reads it there. */
    private InferMessage land(ModelInferRequest message, int offset) {
        byte[] bytes = message.toByteArray();
        Buffer buffer = pool.take(offset + bytes.length);
        request.hold(buffer);
        MemorySegment place = buffer.segment().asSlice(offset, bytes.length);
        MemorySegment.copy(bytes, 0, place, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return new InferDecoder(RequestLimits.STANDARD, new HeapBudget(64 << 20)).decode(place, () -> {});
    }

    private static int landingOffset(ByteBuffer start) {
        return RawAlignment.landingOffset(start, InferDecoder.RAW_INPUT_CONTENTS);
    }

    private static ModelInferRequest message(String id, int... sizes) {
        ModelInferRequest.Builder message =
                ModelInferRequest.newBuilder().setModelName("m").setId(id);
        for (int size : sizes) {
            byte[] data = new byte[size];
            java.util.Arrays.fill(data, (byte) size);
            message.addRawInputContents(ByteString.copyFrom(data));
        }
        return message.build();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 17, 59, 60, 61, 62, 200, 1000})
    void shouldLandAMessageSoThatItsFirstTensorIsAligned(int idLength) {
        ModelInferRequest message = message("i".repeat(idLength), 4096);

        int offset = landingOffset(ByteBuffer.wrap(message.toByteArray()));
        InferMessage landed = land(message, offset);

        assertThat(offset).isBetween(0, 63);
        assertThat(landed.raw(0).address() % 64).isZero();
        MemorySegment aligned = new RawAlignment(landed.bytes(), pool)
                .aligned(landed.rawStart(0), landed.rawLength(0), Datatype.FP32, request);
        assertThat(aligned.address())
                .as("left where it was")
                .isEqualTo(landed.raw(0).address());
    }

    @Test
    void shouldNotLookFurtherThanWhatHasCome() {
        byte[] bytes = message("i".repeat(300), 64).toByteArray();
        for (int length = 0; length < 300; length++) {
            assertThat(landingOffset(ByteBuffer.wrap(bytes, 0, length).slice())).isZero();
        }
        assertThat(landingOffset(ByteBuffer.wrap(new byte[] {0x3a, -1, -1, -1, -1, -1, -1})))
                .isZero();
    }

    @Test
    void shouldLookFromThePositionOn() {
        byte[] bytes = message("id", 64).toByteArray();
        ByteBuffer behind = ByteBuffer.allocate(7 + bytes.length).put(7, bytes).position(7);

        assertThat(landingOffset(behind)).isEqualTo(landingOffset(ByteBuffer.wrap(bytes)));
    }

    @Test
    void shouldMoveLaterTensorsOverWhatNobodyNeeds() {
        InferMessage landed = land(message("id", 8, 16, 3, 24), 0);
        RawAlignment raw = new RawAlignment(landed.bytes(), pool);
        Datatype[] datatypes = {Datatype.FP64, Datatype.INT64, Datatype.UINT8, Datatype.FP32};
        int[] sizes = {8, 16, 3, 24};
        MemorySegment[] tensors = new MemorySegment[4];
        for (int i = 0; i < 4; i++) {
            tensors[i] = raw.aligned(landed.rawStart(i), landed.rawLength(i), datatypes[i], request);
        }

        for (int i = 0; i < 4; i++) {
            assertThat(tensors[i].address() % datatypes[i].byteSize()).isZero();
            assertThat(tensors[i].toArray(ValueLayout.JAVA_BYTE))
                    .hasSize(sizes[i])
                    .containsOnly(sizes[i]);
        }
    }

    @Test
    void shouldCopyATensorThatHasNoRoomToMove() {
        // Nothing stands in front but tag and length: two bytes, where up to seven are needed.
        InferMessage landed = land(
                ModelInferRequest.newBuilder()
                        .addRawInputContents(ByteString.copyFrom(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}))
                        .build(),
                1);

        MemorySegment aligned = new RawAlignment(landed.bytes(), pool)
                .aligned(landed.rawStart(0), landed.rawLength(0), Datatype.INT64, request);

        assertThat(aligned.address() % 8).isZero();
        assertThat(aligned.toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
        assertThat(request.holds()).hasSize(2);
    }
}
