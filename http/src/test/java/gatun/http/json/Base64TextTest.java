// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class Base64TextTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 6143, 6144, 6145, 6146, 12_288, 100_001})
    void shouldDecodeWhatTheJdkEncodes(int byteSize) {
        byte[] bytes = new byte[byteSize];
        new Random(20260901).nextBytes(bytes);
        MemorySegment text = MemorySegment.ofArray(Base64.getEncoder().encode(bytes));

        long decoded = Base64Text.decode(text, 0, text.byteSize());

        assertThat(text.asSlice(0, decoded).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"A, 1", "AA=A, 3", "'AAAA\n', 4", "A*AA, 1", "AAAA=, 5", "AA.., 2"})
    void shouldTellWhereATextIsNoBase64(String text, long place) {
        assertThat(decode(text)).isEqualTo(-1 - place);
    }

    @Test
    void shouldRefuseATextThatEndsAndGoesOn() {
        assertThat(decode("A".repeat(8190) + "==" + "AAAA")).isEqualTo(-1 - 8192);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Z2F0dW4=", "Z2F0\ndW4=\n", " Z2F0dW4", "Z2F0dW4."})
    void shouldPassOverBlanksWhereThatIsAsked(String text) {
        MemorySegment segment = MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII));
        long decoded = Base64Text.decodeLenient(segment, 0, segment.byteSize());
        assertThat(segment.asSlice(0, decoded).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo("gatun".getBytes(StandardCharsets.US_ASCII));
    }

    private static long decode(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return Base64Text.decode(MemorySegment.ofArray(bytes), 0, bytes.length);
    }
}
