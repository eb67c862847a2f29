// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class Base64InPlaceTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 6143, 6144, 6145, 6146, 12_288, 100_001})
    void shouldDecodeWhatTheJdkEncodes(int byteSize) {
        byte[] bytes = new byte[byteSize];
        new Random(20260901).nextBytes(bytes);
        MemorySegment text = MemorySegment.ofArray(Base64.getEncoder().encode(bytes));

        long decoded = Base64InPlace.decode(text);

        assertThat(text.asSlice(0, decoded).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
    }

    @Test
    void shouldRefuseATextThatEndsWithinAWindowAndGoesOn() {
        String text = "A".repeat(8190) + "==" + "AAAA";

        assertThatThrownBy(() -> Base64InPlace.decode(MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("8192");
    }

    @ParameterizedTest
    @ValueSource(strings = {"A", "AA=A", "AAAA\n", "A*AA"})
    void shouldRefuseWhatIsNoBase64(String text) {
        assertThatThrownBy(() -> Base64InPlace.decode(MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII))))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
