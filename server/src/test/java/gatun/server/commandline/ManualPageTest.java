// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The manual page, read by mandoc. */
class ManualPageTest extends CommandFixture {
    @TempDir
    Path folder;

    @Test
    void shouldBeAPageWithoutAWarningThatShowsCommandsAndFlags() throws Exception {
        assertThat(run("man")).isZero();
        Path page = Files.writeString(folder.resolve("gatun.1"), out.toString());
        // There is no date, so that the same sources make the same page.
        String complaints = mandoc("-Tlint", "-Wwarning", page.toString())
                .lines()
                .filter(line -> !line.contains("missing date"))
                .reduce("", (all, line) -> all + line + "\n");
        assertThat(complaints).isEmpty();
        assertThat(mandoc("-Tutf8", "-Owidth=100", page.toString()).replaceAll(".\b", ""))
                .contains("NAME", "gatun - a model inference server")
                .contains("gatun serve", "gatun tensorflow_model_server", "FLAGS OF gatun serve")
                .contains("--http-port=PORT", "Default: 8000.", "GATUN_JAVA_OPTS", "SIGHUP");
    }

    private String mandoc(String... arguments) throws Exception {
        Path output = folder.resolve("output");
        String[] command = new String[arguments.length + 1];
        command[0] = "mandoc";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return Files.readString(output);
    }
}
