// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArgumentFilesTest {
    @TempDir
    Path folder;

    @Test
    void shouldPutAFilesArgumentsInItsPlace() throws IOException {
        assertThat(read("serve --http-port=1\n\t--log-info=false  \n\n"))
                .containsExactly("serve", "--http-port=1", "--log-info=false");
        assertThat(ArgumentFiles.expand(List.of("a", file("b c"), "d"))).containsExactly("a", "b", "c", "d");
        assertThat(ArgumentFiles.expand(List.of("a", file("")))).containsExactly("a");
    }

    @Test
    void shouldPassOverComments() throws IOException {
        assertThat(read("# all of it\na#b # the rest 'is\n#\nc")).containsExactly("a#b", "c");
    }

    @Test
    void shouldKeepWhatIsQuoted() throws IOException {
        assertThat(read("'a  # b' \"c 'd'\" e' 'f '' \"\"")).containsExactly("a  # b", "c 'd'", "e f", "", "");
        assertThat(read("'a\nb' \"c\\\"d\\\\\" 'e\\f' g\\ h \\#i \\'j k\\\nl"))
                .containsExactly("a\nb", "c\"d\\", "e\\f", "g h", "#i", "'j", "kl");
        assertThat(read("a\\")).containsExactly("a\\");
    }

    @Test
    void shouldLeaveOtherArgumentsAsTheyAre() throws IOException {
        assertThat(ArgumentFiles.expand(List.of("@@file", "@", "a@b", ""))).containsExactly("@file", "@", "a@b", "");
        // A file's own arguments name no files.
        assertThat(read("@other @@x")).containsExactly("@other", "@@x");
    }

    @Test
    void shouldSayWhatIsWrongAndWhere() throws IOException {
        assertThatThrownBy(() -> ArgumentFiles.expand(List.of("@" + folder.resolve("none"))))
                .hasMessageContaining("@" + folder.resolve("none") + ": the file of arguments cannot be read")
                .hasMessageContaining("write @@");
        assertThatThrownBy(() -> read("a\nb 'c\n d")).hasMessageContaining("arguments:2: the quote ' has no end");
        assertThatThrownBy(() -> read("x".repeat((1 << 20) + 1))).hasMessageContaining("is longer than");
        assertThatThrownBy(() -> ArgumentFiles.expand(List.of("@" + folder))).hasMessageContaining("cannot be read");
    }

    private List<String> read(String text) throws IOException {
        return ArgumentFiles.expand(List.of(file(text)));
    }

    private String file(String text) throws IOException {
        return "@" + Files.writeString(folder.resolve("arguments"), text);
    }
}
