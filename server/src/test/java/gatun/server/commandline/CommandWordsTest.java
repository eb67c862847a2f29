// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.server.settings.ServedModelSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is typed without a flag: commands, paths, files of arguments, and the help about them. */
class CommandWordsTest extends CommandFixture {
    @TempDir
    Path folder;

    @Test
    void shouldSayHowToServeAPathThatIsTakenForACommand() {
        assertThat(run("pom.xml")).isEqualTo(2);
        assertThat(err.toString())
                .contains("'pom.xml' is neither a command nor a flag. To serve it: gatun serve pom.xml");
    }

    @Test
    void shouldHelp() {
        assertThat(run("help")).isZero();
        assertThat(out.toString())
                .contains(
                        "serve",
                        "check",
                        "init",
                        "models",
                        "top",
                        "bench",
                        "tritonserver",
                        "tensorflow_model_server",
                        "install",
                        "completion",
                        "version",
                        "help")
                .contains("@FILE");
        assertThat(out.toString().lines()).allMatch(line -> line.length() <= 80);
        for (String command : List.of(
                "serve",
                "check",
                "init",
                "models",
                "top",
                "bench",
                "tritonserver",
                "tensorflow_model_server",
                "install",
                "help")) {
            out.getBuffer().setLength(0);
            assertThat(run("help", command)).isZero();
            assertThat(out.toString()).startsWith("Usage: gatun " + command).contains("--help");
        }
        assertThat(run("help", "serv")).isEqualTo(2);
        assertThat(err.toString()).contains("there is no command 'serv'. Did you mean serve?");
    }

    @Test
    void shouldSayTheVersionInBothWays() {
        assertThat(run("--version")).isZero();
        assertThat(run("version")).as(err.toString()).isZero();
        assertThat(out.toString()).isEqualTo("gatun 1.2.3\ngatun 1.2.3\n");
        assertThat(GatunCommand.answeredVersion("1.2.3", "version")).isTrue();
        assertThat(GatunCommand.answeredVersion("1.2.3", "version", "--help")).isFalse();
    }

    @Test
    void shouldTakeArgumentsFromFilesBeforeOtherSources() throws IOException {
        Path file = Files.writeString(folder.resolve("arguments"), "serve --http-port=7 # of a test\n'a b.onnx'");
        environment.put("GATUN_HTTP_PORT", "8");
        assertThat(run("@" + file)).as(err.toString()).isEqualTo(SERVED);
        assertThat(served.getLast().listeners().http().bind().port()).isEqualTo(7);
        assertThat(served.getLast().models().sources().paths()).containsExactly(Path.of("a b.onnx"));
        assertThat(run("serve", "@" + folder.resolve("none"))).isEqualTo(2);
        assertThat(err.toString()).contains("none: the file of arguments cannot be read");
    }

    @Test
    void shouldServeWhatIsNamedWithoutAFlag() {
        ServedModelSettings.Sources sources = serveOnly(
                        "a.onnx", "--log-info=false", "models", "--log-verbose", "b c.onnx")
                .sources();
        assertThat(sources.paths()).containsExactly(Path.of("a.onnx"), Path.of("models"), Path.of("b c.onnx"));
        assertThat(sources.repositories()).isEmpty();
        assertThat(logs.getLast().verbosity()).isEqualTo(1);
        assertThat(serveOnly("--log-verbose", "2", "--log-info", "false", "7.onnx")
                        .sources()
                        .paths())
                .containsExactly(Path.of("7.onnx"));
        assertThat(logs.getLast().verbosity()).isEqualTo(2);
        assertThat(logs.getLast().info()).isFalse();
        assertThat(serve("a.onnx").models().sources().repositories()).containsExactly(Path.of("models"));
        served.clear();
        assertThat(run("serve", "a.onnx", "--model_base_path=b")).isEqualTo(2);
        assertThat(err.toString()).contains("'a.onnx' names models, and so do --model_config_file");
    }
}
