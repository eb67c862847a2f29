// SPDX-License-Identifier: Apache-2.0
package gatun.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * Runs every target with every file of its corpus, so that bugs found by fuzzing stay fixed. {@code jmh/fuzz SECONDS}
 * finds more.
 */
@Timeout(60)
class CorpusTest {
    private static final Path CORPUS = Path.of("src/corpus");

    /** The largest size of a corpus in bytes, so that it can be part of the source tree. */
    private static final long CORPUS_BYTES = 300 * 1024;

    @TestFactory
    Stream<DynamicTest> shouldReadWhatWasFound() {
        return FuzzTargets.ALL.stream()
                .map(target -> DynamicTest.dynamicTest(target.getSimpleName(), () -> runCorpus(target)));
    }

    private static void runCorpus(Class<?> target) throws Throwable {
        MethodHandle run = MethodHandles.lookup()
                .findStatic(target, "fuzzerTestOneInput", MethodType.methodType(void.class, byte[].class));
        run.invokeExact(new byte[0]);
        List<Path> files = files(CORPUS.resolve(target.getSimpleName()));
        assertThat(files).as("the corpus of %s", target.getSimpleName()).isNotEmpty();
        for (Path file : files) {
            byte[] input = Files.readAllBytes(file);
            try {
                run.invokeExact(input);
            } catch (Throwable t) {
                throw new AssertionError("with " + file, t);
            }
        }
    }

    @Test
    void shouldStaySmall() throws IOException {
        long byteSize = 0;
        for (Path file : files(CORPUS)) {
            byteSize += Files.size(file);
        }
        assertThat(byteSize).as("bytes of all corpora").isLessThan(CORPUS_BYTES);
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }
}
