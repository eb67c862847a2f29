// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.server.settings.LoggingSettings.LogRotation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RotatingFileTest {
    @TempDir
    Path folder;

    private void line(RotatingFile file, String text) throws IOException {
        file.write((text + "\n").getBytes(UTF_8));
        file.flush();
    }

    @Test
    void shouldKeepSoManyFilesAndCutNoLine() throws IOException {
        Path log = folder.resolve("log");
        try (RotatingFile file = new RotatingFile(log, new LogRotation(8, 2))) {
            for (int i = 1; i <= 7; i++) {
                line(file, "line" + i);
            }
        }
        assertThat(log).content().isEqualTo("line7\n");
        assertThat(folder.resolve("log.1")).content().isEqualTo("line5\nline6\n");
        assertThat(folder.resolve("log.2")).content().isEqualTo("line3\nline4\n");
        assertThat(folder.resolve("log.3")).doesNotExist();
    }

    @Test
    void shouldCountWhatIsThereAlready() throws IOException {
        Path log = Files.writeString(folder.resolve("log"), "before\n");
        try (RotatingFile file = new RotatingFile(log, new LogRotation(10, 1))) {
            line(file, "after");
            line(file, "new");
        }
        assertThat(log).content().isEqualTo("new\n");
        assertThat(folder.resolve("log.1")).content().isEqualTo("before\nafter\n");
    }

    @Test
    void shouldGoOnInANewFileOnceAnotherWasMovedAway() throws IOException {
        Path log = folder.resolve("log");
        try (RotatingFile file = new RotatingFile(log, LogRotation.NONE)) {
            line(file, "one");
            Files.move(log, folder.resolve("moved"));
            line(file, "two");
            file.reopen();
            line(file, "three");
        }
        assertThat(folder.resolve("moved")).content().isEqualTo("one\ntwo\n");
        assertThat(log).content().isEqualTo("three\n");
    }

    @Test
    void shouldGoOnWhereItCannotBePutAside() throws IOException {
        Path log = folder.resolve("log");
        Files.createDirectories(folder.resolve("log.1/occupied"));
        try (RotatingFile file = new RotatingFile(log, new LogRotation(4, 1))) {
            assertThatThrownBy(() -> line(file, "first")).isInstanceOf(IOException.class);
            file.write("2\n".getBytes(UTF_8));
            file.flush();
        }
        assertThat(log).content().isEqualTo("first\n2\n");
    }
}
