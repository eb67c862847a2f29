// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A tensor in a log or a debugger: short, whatever its size, and harmless, whatever its memory holds. */
class TensorTextTest {
    private static String text(Datatype datatype, MemorySegment bytes, long... shape) {
        return new Tensor(new TensorSpec("T", datatype, Shape.of(shape)), bytes).toString();
    }

    private static MemorySegment strings(String... values) {
        List<String> texts = List.of(values);
        MemorySegment bytes = MemorySegment.ofArray(new byte[(int) BytesCodec.encodedTextByteSize(texts)]);
        BytesCodec.encodeText(texts, bytes);
        return bytes;
    }

    @Test
    void shouldShowTheFirstElements() {
        assertThat(text(Datatype.INT32, MemorySegment.ofArray(new int[] {1, -2, 3}), 1, 3))
                .isEqualTo("'T' INT32 [1,3]: 1, -2, 3");
        assertThat(text(Datatype.FP32, MemorySegment.ofArray(new float[1_000_000]), 1_000_000))
                .isEqualTo("'T' FP32 [1000000]: " + "0.0, ".repeat(8) + "...");
        assertThat(text(Datatype.UINT8, MemorySegment.ofArray(new byte[] {-1, 7}), 2))
                .isEqualTo("'T' UINT8 [2]: 255, 7");
        assertThat(text(Datatype.BOOL, MemorySegment.ofArray(new byte[] {1, 0}), 2))
                .isEqualTo("'T' BOOL [2]: true, false");
        assertThat(text(Datatype.FP16, MemorySegment.ofArray(new short[] {Float.floatToFloat16(1.5f)}), 1))
                .isEqualTo("'T' FP16 [1]: 1.5");
        assertThat(text(Datatype.BF16, MemorySegment.ofArray(new short[] {0x4049}), 1))
                .isEqualTo("'T' BF16 [1]: 3.140625");
        assertThat(text(Datatype.FP8_E5M2, MemorySegment.ofArray(new byte[] {0x3c}), 1))
                .isEqualTo("'T' FP8_E5M2 [1]: 0x3c");
        assertThat(text(Datatype.FP32, MemorySegment.ofArray(new float[0]), 0)).isEqualTo("'T' FP32 [0]: ");
    }

    @Test
    void shouldCutLongStringsAndShowNoControlCharacters() {
        assertThat(text(Datatype.BYTES, strings("a\nb", "", "x".repeat(1000)), 3))
                .isEqualTo("'T' BYTES [3]: \"a?b\", \"\", \"" + "x".repeat(40) + "\"...");
        assertThat(text(Datatype.BYTES, strings(new String[] {"1", "2", "3", "4", "5", "6", "7", "8", "9"}), 9))
                .endsWith("\"8\", ...");
    }

    @Test
    void shouldEndWhereTheBytesDo() {
        byte[] cut = "\u0005\0\0\0ab".getBytes(StandardCharsets.ISO_8859_1);
        assertThat(text(Datatype.BYTES, MemorySegment.ofArray(cut), 1)).isEqualTo("'T' BYTES [1]: ...");
        assertThat(text(Datatype.BYTES, MemorySegment.ofArray(new byte[] {1, 0}), 1))
                .isEqualTo("'T' BYTES [1]: ...");
        assertThat(text(Datatype.INT32, MemorySegment.ofArray(new byte[6]), 2)).isEqualTo("'T' INT32 [2]: 0, ...");
        assertThat(text(Datatype.INVALID, MemorySegment.ofArray(new byte[6]), 2))
                .endsWith("6 bytes");
    }

    @Test
    void shouldNotReadMemoryThatWasFreed() {
        MemorySegment bytes;
        try (Arena arena = Arena.ofConfined()) {
            bytes = arena.allocate(8);
        }
        assertThat(text(Datatype.INT32, bytes, 2))
                .isEqualTo("'T' INT32 [2]: in memory that cannot be read: Already closed");
    }
}
