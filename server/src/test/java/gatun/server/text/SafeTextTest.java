// SPDX-License-Identifier: Apache-2.0
package gatun.server.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What a terminal gets of a server's texts. */
class SafeTextTest {
    @Test
    void shouldLeaveNothingThatDrivesATerminal() {
        assertThat(SafeText.of("a\u001b[2J\u009b1m\r\n\t\u202eb\ud800\u0301", 100))
                .isEqualTo("a?[2J?1m????b??");
        assertThat(SafeText.of("größe-模型", 100)).isEqualTo("größe-模型");
    }

    @Test
    void shouldCutLongTexts() {
        assertThat(SafeText.of("m".repeat(100_000), 10)).isEqualTo("mmmmmmm...");
        assertThat(SafeText.of("exactly 10", 10)).isEqualTo("exactly 10");
        assertThat(SafeText.of("abc", 2)).isEqualTo("ab");
    }
}
