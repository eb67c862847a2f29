// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.Python;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Has the tests of what runs in a worker's Python run there. */
@Timeout(400)
class PythonSideTest {
    @TempDir
    Path folder;

    private int run(Path output, String... command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(Path.of("src/test/python").toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
        Process process = builder.start();
        process.getOutputStream().close();
        try {
            assertThat(process.waitFor(360, TimeUnit.SECONDS))
                    .as("%s ends in time; it said: %s", String.join(" ", command), Files.readString(output))
                    .isTrue();
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldPassItsOwnTests() throws IOException, InterruptedException {
        Path output = folder.resolve("tests");
        int status = run(output, Python.with("numpy"), "-m", "unittest", "discover");
        String said = Files.readString(output);
        assertThat(status).as("the Python tests said:%n%s", said).isZero();
        assertThat(said).as("some tests were found").containsPattern("Ran [1-9][0-9]* tests");
    }
}
