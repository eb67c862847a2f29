// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WritableFileTest {
    @TempDir
    Path folder;

    private static void refuse(Path file, String reason) {
        assertThatExceptionOfType(StartException.class)
                .isThrownBy(() -> WritableFile.require("--file", file))
                .withMessage("--file=" + file + " cannot be written: " + reason
                        + "; name a file in a folder that exists and that this user may write to");
    }

    @Test
    void shouldSayWhyAFileCannotBeWritten() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "content");

        refuse(folder.resolve("missing/file"), "no such file or directory");
        refuse(file.resolve("below"), "Not a directory");
        refuse(folder, "Is a directory");
    }

    @Test
    void shouldLeaveWhatIsThereAndWhatIsNot() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "content");
        Path missing = folder.resolve("missing");
        Path link = Files.createSymbolicLink(folder.resolve("link"), missing);

        WritableFile.require("--file", file);
        WritableFile.require("--file", missing);
        WritableFile.require("--file", link);
        WritableFile.require("--file", Path.of("/dev/null"));

        assertThat(file).hasContent("content");
        assertThat(missing).doesNotExist();
        assertThat(link).isSymbolicLink();
    }
}
