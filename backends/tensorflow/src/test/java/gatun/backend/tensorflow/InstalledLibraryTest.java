// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.bindings.LibraryCache;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InstalledLibraryTest {
    @TempDir
    Path folder;

    @Test
    void shouldSayHowToInstallWhatIsMissing() {
        assertThatThrownBy(() -> InstalledLibrary.path("", new LibraryCache(folder)))
                .isInstanceOfSatisfying(GatunException.class, missing -> assertThat(missing.code())
                        .isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessageContaining("./gatun install tensorflow")
                .hasMessageContaining("backend-config=tensorflow,library=PATH");
    }

    @Test
    void shouldFindWhatIsInstalled() throws IOException {
        Path library = Files.createDirectory(folder.resolve("tensorflow")).resolve("libtensorflow_cc.so.2");
        Files.createFile(library);
        assertThat(InstalledLibrary.path("", new LibraryCache(folder))).isEqualTo(library);
    }

    @Test
    void shouldPreferTheFileThatIsNamed() throws IOException {
        Path own = Files.createFile(folder.resolve("libtensorflow.so.2"));
        assertThat(InstalledLibrary.path(own.toString(), new LibraryCache(folder)))
                .isEqualTo(own);
        assertThatThrownBy(() -> InstalledLibrary.path(folder.resolve("none").toString(), new LibraryCache(folder)))
                .hasMessageContaining("names no file");
    }
}
