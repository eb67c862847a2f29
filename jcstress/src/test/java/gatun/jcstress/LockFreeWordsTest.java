// SPDX-License-Identifier: Apache-2.0
package gatun.jcstress;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs all jcstress tests of this module for a moment each; {@code -Dgatun.jcstress.iterations=100} for longer. */
class LockFreeWordsTest {
    private static final String ITERATIONS = System.getProperty("gatun.jcstress.iterations", "2");

    /** How many there are: a machine with too few cores skips some without a word. */
    private static final int TESTS = 20;

    @Test
    void shouldShowNoForbiddenOutcome(@TempDir Path reports) throws Exception {
        Path log = reports.resolve("jcstress.log");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "org.openjdk.jcstress.Main",
                        // Not each actor compiled in each way: that multiplies the time.
                        "-sc",
                        "false",
                        "-f",
                        "1",
                        "-fsm",
                        "1",
                        "-iters",
                        ITERATIONS,
                        "-time",
                        "300",
                        "-r",
                        reports.toString(),
                        "-jvmArgs",
                        "--enable-native-access=ALL-UNNAMED")
                .directory(reports.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertThat(process.waitFor(20, TimeUnit.MINUTES))
                    .as("ended in time")
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        String output = Files.readString(log);
        assertThat(output)
                .as("what jcstress said")
                .containsPattern("All remaining tests: " + TESTS + " matching")
                .contains("Failed tests: No matches", "Error tests: No matches");
        assertThat(process.exitValue()).isZero();
    }
}
