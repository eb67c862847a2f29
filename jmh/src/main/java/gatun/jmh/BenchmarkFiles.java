// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Where benchmarks find models and C sources, and how the latter are built. */
final class BenchmarkFiles {
    private BenchmarkFiles() {}

    /** The project's root, which {@code jmh/run} passes in the property {@code gatun.root}. */
    static Path root() {
        return Path.of(System.getProperty("gatun.root", ".")).toAbsolutePath().normalize();
    }

    /** Builds a shared library from a file of {@code jmh/src/main/c}; needs {@code cc}. */
    static Path compile(String source, String includeFolder) {
        Path folder = root().resolve("jmh/target/native");
        Path library = folder.resolve(source.replace(".c", ".so"));
        try {
            Files.createDirectories(folder);
            List<String> command = List.of(
                    "cc",
                    "-O2",
                    "-shared",
                    "-fPIC",
                    "-I" + root().resolve(includeFolder),
                    "-o",
                    library.toString(),
                    root().resolve("jmh/src/main/c").resolve(source).toString());
            int status = new ProcessBuilder(command).inheritIO().start().waitFor();
            if (status != 0) {
                throw new IllegalStateException("cannot build the C baseline: " + String.join(" ", command));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the C baseline needs a C compiler named cc", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while building " + source, e);
        }
        return library;
    }
}
