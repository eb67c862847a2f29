// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.TextFormat;
import java.nio.charset.Charset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProtobufTextTest {
    @ParameterizedTest
    @ValueSource(strings = {"GBK", "ISO-8859-1", "UTF-8", "Shift_JIS"})
    void shouldSkipCommentsInAnyEncoding(String charset) throws TextFormat.ParseException {
        String comment = charset.equals("ISO-8859-1") ? "# größe '\"" : "# 模型 '\"";
        byte[] file = (comment + "\nname: '#' " + comment + "\n").getBytes(Charset.forName(charset));

        String text = ProtobufText.of(file);

        assertThat(text.replaceAll("# .*", "")).isEqualTo("\nname: '#' \n");
    }

    @Test
    void shouldKeepWhatIsInQuotes() throws TextFormat.ParseException {
        String text = "name: \"模\u00A0型\\\" # no comment\" # one";

        assertThat(ProtobufText.of(text.getBytes(UTF_8))).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\0',
            value = {
                "\uFEFFname: 'm' | 1:1: U+FEFF byte order mark at the start; save the file without it",
                "name:\u00A0'm' | 1:6: U+00A0 no-break space outside of quotes and comments; write a plain blank",
                "name: 'é' x\u200B: 1 | 1:12: U+200B zero width space outside of quotes and comments; delete it",
                "name: \u201Cm\u201D | 1:7: U+201C left double quotation mark outside of quotes and comments; write a",
                "name\uFF1A 'm' | 1:5: U+FF1A fullwidth colon outside of quotes and comments; write ':'",
                "name: \uFEFF'm' | 1:7: U+FEFF zero width no-break space outside of quotes and comments; delete it",
                "name: 'm' \uD83D\uDE00 | 1:11: U+1F600 grinning face outside of quotes and comments; write ASCII",
                "name: \u0001'm' | 1:7: U+0001 start of heading outside of quotes and comments; delete it",
            })
    void shouldNameACharacterThatNobodySees(String text, String failure) {
        assertThatThrownBy(() -> ProtobufText.of(text.getBytes(UTF_8)))
                .isInstanceOf(TextFormat.ParseException.class)
                .hasMessageStartingWith(failure);
    }

    @Test
    void shouldTellLineAndColumnOfTextThatIsNotUtf8() {
        assertThatThrownBy(() -> ProtobufText.of("# é\nname: 'gr\u00F6\u00DFe'".getBytes(ISO_8859_1)))
                .hasMessage("2:10: byte 0xF6 is not UTF-8; save the file as UTF-8");
        assertThatThrownBy(() -> ProtobufText.of("# é\n\nx\u00E9".getBytes(ISO_8859_1)))
                .hasMessage("3:2: byte 0xE9 is not UTF-8; save the file as UTF-8");
    }

    @Test
    void shouldNameFilesOfUtf16() {
        assertThatThrownBy(() -> ProtobufText.of("name: 'm'".getBytes(UTF_16)))
                .hasMessage("1:1: the file is UTF-16; save it as UTF-8");
        assertThatThrownBy(() -> ProtobufText.of("\uFEFFname: 'm'".getBytes(UTF_16LE)))
                .hasMessage("1:1: the file is UTF-16; save it as UTF-8");
    }
}
