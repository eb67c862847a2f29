// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BytesCodecTest {
    private final Arena arena = Arena.ofConfined();

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void shouldPutALittleEndianLengthInFrontOfEachElement() {
        MemorySegment raw = encoded("ab", "", "\u00e9");
        assertThat(raw.toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(2, 0, 0, 0, 'a', 'b', 0, 0, 0, 0, 2, 0, 0, 0, 0xC3, 0xA9);
    }

    @Test
    void shouldReadBackWhatItWrote() {
        List<String> texts = List.of("plain", "", "\u00fcber \u20ac \ud83d\ude00 end", "x".repeat(70_000));
        MemorySegment raw = encoded(texts.toArray(String[]::new));
        assertThat(BytesCodec.check(raw, texts.size())).isEqualTo(BytesCodec.Check.Complete.COMPLETE);
        assertThat(decoded(raw)).isEqualTo(texts);
    }

    @Test
    void shouldEncodeTextAsTheJdkDoes() {
        Random random = new Random(4711);
        for (int round = 0; round < 2_000; round++) {
            StringBuilder any = new StringBuilder();
            for (int i = random.nextInt(12); i > 0; i--) {
                // Half of the characters are ASCII, the others anything, lone surrogates included.
                any.append((char) (random.nextBoolean() ? random.nextInt(0x80) : random.nextInt(0x10000)));
            }
            String text = any.toString();
            byte[] expected = text.getBytes(StandardCharsets.UTF_8);
            assertThat(BytesCodec.utf8ByteSize(text)).isEqualTo(expected.length);
            MemorySegment target = arena.allocate(4 + expected.length);
            assertThat(BytesCodec.putText(target, 0, text)).isEqualTo(4 + expected.length);
            assertThat(target.asSlice(4).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
        }
    }

    @Test
    void shouldEncodeByteArraysAndNativeBytes() {
        List<byte[]> elements = List.of(new byte[] {1, 2, 3}, new byte[0], new byte[] {-1});
        MemorySegment raw = arena.allocate(BytesCodec.encodedByteSize(elements) + 4 + 2);
        BytesCodec.encode(elements, raw);
        MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) 7, (byte) 8, (byte) 9);
        assertThat(BytesCodec.put(raw, 16, source, 1, 2)).isEqualTo(raw.byteSize());
        assertThat(raw.toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(3, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 1, 0, 0, 0, -1, 2, 0, 0, 0, 8, 9);
    }

    @Test
    void shouldSayHowABadTensorEnds() {
        MemorySegment raw = encoded("one", "two");
        assertThat(BytesCodec.check(raw, 1)).isEqualTo(new BytesCodec.Check.TooMany(2));
        assertThat(BytesCodec.check(raw, 3)).isEqualTo(new BytesCodec.Check.TooFew(2));
        assertThat(BytesCodec.check(raw.asSlice(0, 9), 2)).isEqualTo(new BytesCodec.Check.IncompleteLength(2));
        assertThat(BytesCodec.check(raw.asSlice(0, 13), 2)).isEqualTo(new BytesCodec.Check.IncompleteElement(3, 2));
        assertThat(BytesCodec.check(raw.asSlice(0, 0), 0)).isEqualTo(BytesCodec.Check.Complete.COMPLETE);
        assertThat(BytesCodec.check(raw.asSlice(0, 0), 2)).isEqualTo(new BytesCodec.Check.TooFew(0));
    }

    @Test
    void shouldTakeALengthAsUnsigned() {
        MemorySegment raw = arena.allocate(8);
        raw.set(ValueLayout.JAVA_INT, 0, -1);
        assertThat(BytesCodec.check(raw, 1)).isEqualTo(new BytesCodec.Check.IncompleteElement(4294967295L, 4));
    }

    @Test
    void shouldRefuseToWalkOverAnIncompleteElement() {
        MemorySegment raw = encoded("four");
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> BytesCodec.forEach(raw.asSlice(0, 7), (offset, byteSize) -> {}))
                .withMessage("a BYTES tensor ends within the element at byte 0: expected 4 bytes, got 3")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> BytesCodec.elementByteSize(raw, 6))
                .withMessage("a BYTES tensor ends within the length at byte 6: expected 4 bytes, got 2");
    }

    @Test
    void shouldRefuseALengthThatFourBytesCannotSay() {
        MemorySegment target = arena.allocate(8);
        assertThatIllegalArgumentException().isThrownBy(() -> BytesCodec.putLength(target, 0, 1L << 32));
        assertThatIllegalArgumentException().isThrownBy(() -> BytesCodec.putLength(target, 0, -1));
        BytesCodec.putLength(target, 0, 0xFFFF_FFFFL);
        assertThat(target.get(ValueLayout.JAVA_INT, 0)).isEqualTo(-1);
    }

    @Test
    void shouldNeverReadOutsideRandomBytes() {
        Random random = new Random(17);
        int complete = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(24)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (byte) random.nextInt(3);
            }
            MemorySegment raw = MemorySegment.ofArray(bytes);
            long count = random.nextInt(4);
            if (BytesCodec.check(raw, count) == BytesCodec.Check.Complete.COMPLETE) {
                complete++;
                assertThat(decoded(raw)).hasSize((int) count);
            }
        }
        assertThat(complete).isPositive();
    }

    private MemorySegment encoded(String... texts) {
        MemorySegment raw = arena.allocate(BytesCodec.encodedTextByteSize(List.of(texts)));
        BytesCodec.encodeText(List.of(texts), raw);
        return raw;
    }

    private static List<String> decoded(MemorySegment raw) {
        List<String> texts = new ArrayList<>();
        BytesCodec.forEach(raw, (offset, byteSize) -> texts.add(BytesCodec.text(raw, offset, byteSize)));
        return texts;
    }
}
