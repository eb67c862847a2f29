// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.tensor.GatunException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkSyntaxTest {
    private final ChunkSyntax chunks = new ChunkSyntax();

    @ParameterizedTest
    @CsvSource({"0, 0", "a, 10", "0F, 15", "1;name=value, 1", "00000010, 16", "7fffffff, 2147483647"})
    void shouldReadSizes(String line, int byteSize) {
        assertThat(chunks.byteSize(line)).isEqualTo(byteSize);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " 1",
                "1 ",
                "1 ;a",
                "+1",
                "-1",
                "0x1",
                "1_0",
                "g",
                ";a",
                "80000000",
                "100000000",
                "1;a\nb",
                "1;a\u0000",
                "\u0661"
            })
    void shouldRefuseSizesThatSomebodyMayReadOtherwise(String line) {
        assertThatExceptionOfType(GatunException.class).isThrownBy(() -> chunks.byteSize(line));
    }

    @Test
    void shouldBoundExtensions() {
        String line = "1;" + "x".repeat(1000);
        for (int i = 0; i < 16; i++) {
            chunks.byteSize(line);
        }
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> chunks.byteSize(line))
                .withMessageContaining("extensions");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 5",
                "transfer-encoding: chunked",
                "Host: h",
                "no colon",
                "A : b",
                " a: b",
                "A: b\nC: d"
            })
    void shouldRefuseTrailersThatMayNotBe(String line) {
        assertThatExceptionOfType(GatunException.class).isThrownBy(() -> chunks.trailer(line));
    }

    @Test
    void shouldBoundTrailers() {
        for (int i = 0; i < 64; i++) {
            chunks.trailer("X-Sum: " + i);
        }
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> chunks.trailer("X-Sum: 64"))
                .withMessageContaining("64 lines");
    }
}
