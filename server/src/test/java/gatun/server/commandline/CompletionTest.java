// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script for bash in a bash, and what those for other shells hold. */
class CompletionTest extends CommandFixture {
    @TempDir
    Path folder;

    private Path script;

    @BeforeEach
    void make() throws IOException {
        assertThat(run("completion", "bash")).isZero();
        script = Files.writeString(folder.resolve("gatun.bash"), out.toString());
    }

    @Test
    void shouldCompleteCommands() throws Exception {
        assertThat(complete("gatun", ""))
                .contains("serve", "check", "models", "bench", "install", "completion", "help");
        assertThat(complete("gatun", "se")).containsExactly("serve");
        assertThat(complete("gatun", "te")).containsExactly("tensorflow_model_server");
        assertThat(complete("gatun", "tr")).containsExactly("tritonserver");
        assertThat(complete("gatun", "help", "che")).containsExactly("check");
        assertThat(complete("gatun", "completion", "")).containsExactlyInAnyOrder("bash", "fish", "zsh");
        assertThat(complete("gatun", "--ver")).containsExactly("--version");
    }

    @Test
    void shouldCompleteFlagsOfTheCommand() throws Exception {
        assertThat(complete("gatun", "serve", "--http-po")).containsExactly("--http-port=");
        assertThat(complete("gatun", "serve", "model.onnx", "--disable-auto"))
                .containsExactly("--disable-auto-complete-config");
        assertThat(complete("gatun", "check", "--http-po")).isEmpty();
        assertThat(complete("gatun", "bench", "--model-ver")).containsExactly("--model-version=");
        // Accepted, and not shown in the help either.
        assertThat(complete("gatun", "serve", "--http-thread")).isEmpty();
    }

    @Test
    void shouldCompleteValues() throws Exception {
        // As bash cuts the words of "--log-format=I", and of the other forms.
        assertThat(complete("gatun", "serve", "--log-format", "=", "I")).containsExactly("ISO8601");
        assertThat(complete("gatun", "serve", "--log-format", "=")).contains("ISO8601", "default");
        assertThat(complete("gatun", "serve", "--log-format=I")).containsExactly("--log-format=ISO8601");
        assertThat(complete("gatun", "serve", "--log-format", "I")).containsExactly("ISO8601");
        assertThat(complete("gatun", "serve", "--log-info", "=", "f")).containsExactly("false");
        assertThat(complete("gatun", "serve", "--http-port", "=", "")).isEmpty();
    }

    @Test
    void shouldCompleteFilesWithBlanksInTheirNames() throws Exception {
        Path model = Files.createFile(folder.resolve("my model.onnx"));
        String beginning = folder.resolve("my").toString();
        assertThat(complete("gatun", "serve", beginning)).containsExactly(model.toString());
        assertThat(complete("gatun", "serve", "--log-file", "=", beginning)).containsExactly(model.toString());
        assertThat(complete("gatun", "check", "--quiet", beginning)).containsExactly(model.toString());
    }

    @Test
    void shouldHaveScriptsForOtherShells() {
        out.getBuffer().setLength(0);
        assertThat(run("completion", "zsh")).isZero();
        assertThat(out.toString())
                .startsWith("#compdef gatun\n")
                .contains("'*--http-port=[", "'serve:", ":FILE:_files'", "(ISO8601 default");
        out.getBuffer().setLength(0);
        assertThat(run("completion", "fish")).isZero();
        assertThat(out.toString())
                .contains("complete -c gatun -n __fish_use_subcommand -a serve -d ")
                .contains("complete -c gatun -n '__fish_seen_subcommand_from serve' -l http-port -r -f -d ");
        assertThat(run("completion", "tcsh")).isEqualTo(2);
        assertThat(err.toString()).contains("there is no script for 'tcsh'; known are bash, zsh, fish");
    }

    /** What bash would offer for the last of these words. */
    private List<String> complete(String... words) throws Exception {
        String list = String.join(
                " ", List.of(words).stream().map(CompletionTest::quoted).toList());
        String program = "source " + quoted(script.toString()) + "\nCOMP_WORDS=(" + list + ")\nCOMP_CWORD="
                + (words.length - 1)
                + "\n_gatun\nfor reply in \"${COMPREPLY[@]}\"; do printf '%s\\n' \"$reply\"; done\n";
        Process bash = new ProcessBuilder("bash", "--norc", "-u", "-c", program)
                .redirectError(folder.resolve("errors").toFile())
                .start();
        List<String> replies;
        try (var output = bash.inputReader(UTF_8)) {
            replies = output.lines().filter(line -> !line.isEmpty()).toList();
        }
        assertThat(bash.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(folder.resolve("errors")).content().isEmpty();
        assertThat(bash.exitValue()).isZero();
        return replies;
    }

    private static String quoted(String word) {
        return "'" + word.replace("'", "'\\''") + "'";
    }
}
