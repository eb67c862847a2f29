// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SipHashTest {
    private static final long LOW = 0x0706050403020100L;
    private static final long HIGH = 0x0f0e0d0c0b0a0908L;

    /** The hashes that OpenSSL gives for 0, 1, 2, ... with the key 0, 1, ... 15. */
    @ParameterizedTest
    @CsvSource({
        "0, a3817f04ba25a8e66df67214c7550293",
        "8, 3b62a9ba6258f5610f83e264f31497b4",
        "16, 6ee2a4ca67b054bbfd3315bf85230577",
        "64, 1eaf077dc0d4cd3f8cad4d383658a74b"
    })
    void shouldBeTheHashThatOthersCompute(int byteCount, String expected) {
        SipHash hash = new SipHash(LOW, HIGH);
        ByteBuffer words = words(byteCount);
        while (words.hasRemaining()) {
            hash.add(words.getLong());
        }
        SipHash.Digest digest = hash.digest();
        byte[] bytes = ByteBuffer.allocate(16)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(digest.low())
                .putLong(digest.high())
                .array();
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(expected);
    }

    private static ByteBuffer words(int byteCount) {
        byte[] bytes = new byte[byteCount];
        for (int i = 0; i < byteCount; i++) {
            bytes[i] = (byte) i;
        }
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void shouldTakeBytesAsTheirNumberAndTheirWords() {
        SipHash whole = new SipHash(LOW, HIGH);
        whole.add(MemorySegment.ofArray(new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
        SipHash words = new SipHash(LOW, HIGH);
        words.add(10);
        words.add(0x0706050403020100L);
        words.add(0x0908);
        assertThat(whole.digest()).isEqualTo(words.digest());
    }

    @Test
    void shouldTellApartWhatDiffersInAByteALengthOrTheKey() {
        assertThat(Stream.of(
                        of(LOW, 1, 2, 3),
                        of(LOW, 1, 2, 4),
                        of(LOW, 1, 2),
                        of(LOW, 1, 2, 0),
                        of(LOW, 1, 2, 3, 0, 0, 0, 0, 0),
                        of(LOW + 1, 1, 2, 3)))
                .doesNotHaveDuplicates();
    }

    private static SipHash.Digest of(long lowKey, int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) values[i];
        }
        SipHash hash = new SipHash(lowKey, HIGH);
        hash.add(MemorySegment.ofArray(bytes));
        return hash.digest();
    }
}
