// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

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

class LibrariesTest {
    @TempDir
    Path folder;

    @Test
    void shouldSayHowToInstallWhatIsMissing() {
        Libraries libraries = new Libraries("", "", new LibraryCache(folder));
        assertThatThrownBy(() -> libraries.open(ForestFormat.XGBOOST_UBJ))
                .isInstanceOfSatisfying(GatunException.class, missing -> assertThat(missing.code())
                        .isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessageContaining("./gatun install xgboost")
                .hasMessageContaining("backend-config=fil,xgboost-library=PATH");
        assertThatThrownBy(() -> libraries.open(ForestFormat.LIGHTGBM))
                .hasMessageContaining("./gatun install lightgbm");
    }

    @Test
    void shouldSayWhatIsNoLibrary() throws IOException {
        Path text = Files.writeString(folder.resolve("lib_lightgbm.so"), "no library");
        Libraries libraries =
                new Libraries(folder.resolve("none").toString(), text.toString(), new LibraryCache(folder));
        assertThatThrownBy(() -> libraries.open(ForestFormat.XGBOOST)).hasMessageContaining("names no file");
        assertThatThrownBy(() -> libraries.open(ForestFormat.LIGHTGBM))
                .hasMessageContaining("LightGBM not available")
                .hasMessageContaining("lib_lightgbm.so");
    }
}
