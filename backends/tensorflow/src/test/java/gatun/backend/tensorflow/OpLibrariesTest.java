// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.bindings.LibraryCache;
import gatun.bindings.TensorFlow;
import gatun.memory.tensor.Shape;
import gatun.runtime.ModelStatus;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models with an operation that TensorFlow does not have, and the libraries that bring it. */
@Timeout(120)
class OpLibrariesTest {
    private static final Path MODELS = Path.of("src/test/models-with-operations");

    @TempDir
    private static Path folder;

    /** Compiles a C file to a library, as users do; once, since the process keeps what it has loaded. */
    private static Path compile(String source) throws Exception {
        Path library = TensorFlow.installed(LibraryCache.ofUser()).orElseThrow();
        Path compiled = folder.resolve("operations.so");
        if (Files.exists(compiled)) {
            return compiled;
        }
        Process compiler = new ProcessBuilder(
                        "cc",
                        "-shared",
                        "-fPIC",
                        "-o",
                        compiled.toString(),
                        source,
                        "-L" + library.getParent(),
                        "-l:libtensorflow_framework.so.2")
                .redirectErrorStream(true)
                .start();
        String output = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(compiler.waitFor()).as(output).isZero();
        return compiled;
    }

    private static ServedModels serve(String libraries) {
        return ServedModels.open(
                options -> options.backendOption(TensorFlowBackend.NAME, "op-library", libraries), MODELS);
    }

    private static String reason(ServedModels models) {
        return models.server().index().stream()
                .map(ModelStatus::reason)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldServeModelsWithOperationsOfLibraries() throws Exception {
        assumeThat(TensorFlow.installed(LibraryCache.ofUser()))
                .as("TensorFlow's library, installed by './gatun install tensorflow'")
                .isPresent();
        Path library = compile("src/test/native/plus_one.c");
        try (ServedModels models = serve(library + File.pathSeparator + library)) {
            assertThat(models.answer(models.floats(models.request("plus_one", ""), "x", Shape.of(2), 1, 5)))
                    .containsExactly(2, 6);
        }
    }

    @Test
    void shouldServeModelsWithOperationsOfTheLibrariesThatTheirConfigurationNames() throws Exception {
        assumeThat(TensorFlow.installed(LibraryCache.ofUser()))
                .as("TensorFlow's library, installed by './gatun install tensorflow'")
                .isPresent();
        Path library = compile("src/test/native/plus_one.c");
        Path version = Files.createDirectories(folder.resolve("models/plus_one/1"));
        Files.copy(MODELS.resolve("plus_one/1/saved_model.pb"), version.resolve("saved_model.pb"));
        Files.writeString(
                version.resolveSibling("config.pbtxt"),
                "model_operations { op_library_filename: \"" + library + "\" }");
        try (ServedModels models = ServedModels.open(options -> options, folder.resolve("models"))) {
            assertThat(reason(models)).isEmpty();
            assertThat(models.answer(models.floats(models.request("plus_one", ""), "x", Shape.of(2), 1, 5)))
                    .containsExactly(2, 6);
        }
    }

    @Test
    void shouldSayWhichLibraryCannotBeLoaded() throws Exception {
        Path text = Files.writeString(folder.resolve("text.so"), "no library");
        try (ServedModels models = serve(text.toString())) {
            assertThat(reason(models))
                    .contains("op-library=" + text + ": TensorFlow 2.")
                    .contains("cannot load it");
        }
        try (ServedModels models = serve("/no/such/library.so")) {
            assertThat(reason(models)).contains("op-library=/no/such/library.so names no file");
        }
    }
}
