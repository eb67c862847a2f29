// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {
    @Test
    void shouldFindAnInstalledLibraryAndTheFileItCameFrom() {
        assertThat(NativeLibrary.find("the maths library", "libm.so.6", List.of("cos", "sin")))
                .isInstanceOfSatisfying(NativeLibrary.Available.class, library -> {
                    assertThat(library.path()).isAbsolute().exists();
                    assertThat(library.symbols().find("cos")).isPresent();
                });
    }

    @Test
    void shouldSayThatAnInstalledLibraryIsMissing() {
        assertThat(NativeLibrary.find("Locks", "libgatun-locks.so.1", List.of("open")))
                .hasToString("Locks not available: Cannot open library: libgatun-locks.so.1");
    }

    @Test
    void shouldSayWhichFileIsMissing(@TempDir Path folder) {
        Path file = folder.resolve("libengine.so");
        assertThat(NativeLibrary.open("Engine", file, List.of()))
                .hasToString("Engine not available: there is no file " + file);
    }

    @Test
    void shouldSayWhyAFileIsNoLibrary(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("libengine.so"), "no ELF");
        assertThat(NativeLibrary.open("Engine", file, List.of()))
                .isInstanceOfSatisfying(NativeLibrary.Missing.class, library -> assertThat(library.reason())
                        .startsWith(file.toString() + ": ")
                        .hasSizeGreaterThan(file.toString().length() + 2));
    }

    @Test
    void shouldSayWhichSymbolIsMissing() {
        assertThat(NativeLibrary.find("Engine", "libm.so.6", List.of("cos", "engine_open")))
                .hasToString("Engine not available: libm.so.6 has no engine_open: it is another library, or a version"
                        + " that is too old");
    }

    @Test
    void shouldHoldOneFileForEachName(@TempDir Path folder) throws Exception {
        NativeLibrary.Available first =
                (NativeLibrary.Available) NativeLibrary.find("the one", "libm.so.6", List.of("cos"));
        assertThat(NativeLibrary.open("the one", first.path(), List.of("cos")))
                .isInstanceOf(NativeLibrary.Available.class);
        Path copy = Files.copy(first.path(), folder.resolve("libm-copy.so"));
        assertThat(NativeLibrary.open("the one", copy, List.of("cos")))
                .isInstanceOfSatisfying(NativeLibrary.Missing.class, library -> assertThat(library.reason())
                        .contains("already uses " + first.path()));
    }

    @Test
    void shouldTryAgainAfterAFailure(@TempDir Path folder) throws Exception {
        Path missing = folder.resolve("libengine.so");
        assertThat(NativeLibrary.open("retried", missing, List.of())).isInstanceOf(NativeLibrary.Missing.class);
        assertThat(NativeLibrary.find("retried", "libm.so.6", List.of("cos")))
                .isInstanceOf(NativeLibrary.Available.class);
    }
}
