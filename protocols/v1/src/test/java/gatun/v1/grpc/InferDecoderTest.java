// SPDX-License-Identifier: Apache-2.0
package gatun.v1.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.wire.v1.InferRequest;
import gatun.wire.v1.InferRequestHeader;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Limits on the heap that a message of v1 may take. */
class InferDecoderTest {
    private static final byte INPUT = 2 << 3 | 2;
    private static final byte META_DATA = 3 << 3 | 2;
    private static final byte RAW_INPUT = 4 << 3 | 2;

    private final Arena arena = Arena.ofConfined();
    private final HeapBudget heap = new HeapBudget(8 << 20);
    private final InferDecoder decoder = new InferDecoder(RequestLimits.STANDARD, heap);

    @AfterEach
    void nothingShouldBeReserved() {
        assertThat(heap.usedBytes()).isZero();
        arena.close();
    }

    private V1InferMessage decode(byte[] message) {
        return decoder.decode(arena.allocate(Math.max(1, message.length))
                .asSlice(0, message.length)
                .copyFrom(MemorySegment.ofArray(message)));
    }

    /** {@code count} empty fields. */
    private static byte[] empty(byte tag, int count) {
        byte[] fields = new byte[2 * count];
        for (int i = 0; i < fields.length; i += 2) {
            fields[i] = tag;
        }
        return fields;
    }

    private static byte[] header(byte[] header) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(META_DATA);
        int length = header.length;
        while (length > 0x7f) {
            out.write((length & 0x7f) | 0x80);
            length >>>= 7;
        }
        out.write(length);
        out.writeBytes(header);
        return out.toByteArray();
    }

    private void requireRefused(byte[] message, String expected) {
        assertThatThrownBy(() -> decode(message))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_EXHAUSTED))
                .hasMessageContaining(expected);
    }

    @Test
    void shouldReadAHeaderInPieces() {
        InferRequest request = InferRequest.newBuilder()
                .setModelName("m")
                .setMetaData(InferRequestHeader.newBuilder().setId(7))
                .build();
        byte[] more = header(InferRequestHeader.newBuilder()
                .setBatchSize(3)
                .addInput(InferRequestHeader.Input.newBuilder().setName("x"))
                .build()
                .toByteArray());
        byte[] message = Arrays.copyOf(request.toByteArray(), request.getSerializedSize() + more.length);
        System.arraycopy(more, 0, message, request.getSerializedSize(), more.length);

        V1InferMessage read = decode(message);

        assertThat(read.modelName).isEqualTo("m");
        assertThat(read.header.getId()).isEqualTo(7);
        assertThat(read.header.getBatchSize()).isEqualTo(3);
        assertThat(read.header.getInput(0).getName()).isEqualTo("x");
    }

    @Test
    void shouldCountInputsBeforeTheyBecomeObjects() {
        requireRefused(header(empty(INPUT, 10_000)), "limit-tensors");
        requireRefused(header(empty(INPUT, 1_000_000)), "limit-text-byte-size");
        requireRefused(empty(RAW_INPUT, 1_000_000), "limit-tensors");
    }

    @Test
    void shouldNotPutAHeaderOfMillionsOfPiecesTogether() {
        assertThatThrownBy(() -> decode(empty(META_DATA, 1_000_000))).hasMessageContaining("more than 16 pieces");
    }

    @Test
    void shouldReserveTheHeapOfALongHeader() {
        byte[] message = header(empty(INPUT, 2_000));
        Hold others = heap.reserve(heap.byteLimit());
        assertThatThrownBy(() -> decode(message)).isInstanceOfSatisfying(GatunException.class, e -> assertThat(e.code())
                .isEqualTo(ErrorCode.UNAVAILABLE));
        others.close();
        try (V1InferMessage read = decode(message)) {
            assertThat(read.header.getInputCount()).isEqualTo(2_000);
            assertThat(heap.usedBytes()).isPositive();
        }
    }
}
