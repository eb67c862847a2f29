// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.structure.DocumentedPage.Block;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Runs documented commands in one bash, in the project's folder, with a server's ports for the documented ones.
 *
 * @param server the server that they ask
 * @param folder where their output and what they install go
 */
record PastedCommands(ServerExtension server, Path folder) {
    private static final Duration LIMIT = Duration.ofSeconds(100);
    private static final String MARK = "--- block ";

    /** Runs {@code blocks} of {@code page} in order, and compares the outputs that the page shows. */
    void assertOutputs(DocumentedPage page, List<Block> blocks) throws Exception {
        StringBuilder script = new StringBuilder();
        for (int i = 0; i < blocks.size(); i++) {
            script.append("printf '\\n%s%s\\n' '")
                    .append(MARK)
                    .append("' ")
                    .append(i)
                    .append('\n');
            script.append(blocks.get(i).script()).append('\n');
        }
        String[] outputs = run(script.toString()).split("\n" + MARK + "\\d+\n", -1);
        assertThat(outputs).hasSize(blocks.size() + 1);
        for (int i = 0; i < blocks.size(); i++) {
            Block block = blocks.get(i);
            if (block.output().isPresent() && !block.script().isBlank()) {
                assertThat(outputs[i + 1].replaceAll("\\s", ""))
                        .as("the output of %s in %s", block.firstLine(), page.file())
                        .matches(shown(block.output().get()));
            }
        }
    }

    /** The pattern of an output as a page shows it: without blanks, and "..." stands for anything. */
    private static String shown(String output) {
        return Pattern.quote(output.replaceAll("\\s", "")).replace("...", "\\E.*\\Q");
    }

    /** Runs {@code script}, which must succeed, and returns its output. */
    String run(String script) throws Exception {
        String here = withPorts(script);
        Path output = Files.createTempFile(folder, "output", ".txt");
        Path errors = Files.createTempFile(folder, "errors", ".txt");
        // A refusal is to fail the script.
        String preamble = "set -e -o pipefail\ncurl() { command curl --fail-with-body \"$@\"; }\n";
        ProcessBuilder builder = new ProcessBuilder("bash", "-c", preamble + here)
                .directory(ServerProcess.root().toFile())
                .redirectInput(Path.of("/dev/null").toFile())
                .redirectOutput(output.toFile())
                .redirectError(errors.toFile());
        builder.environment().put("GATUN_BUILD", "never");
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        // What is installed does not replace what other tests use.
        builder.environment().put("GATUN_CACHE", folder.resolve("cache").toString());
        Process process = builder.start();
        boolean ended = process.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        if (!ended) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        String printed = new String(Files.readAllBytes(output), UTF_8);
        assertThat(ended && process.exitValue() == 0)
                .as("%s%n--- output%n%s%n--- errors%n%s", here, printed, Files.readString(errors))
                .isTrue();
        return printed;
    }

    /** Replaces the documented ports in {@code text} by the server's. */
    String withPorts(String text) {
        return text.replace("localhost:8000", "localhost:" + server.httpPort())
                .replace("localhost:8001", "localhost:" + server.grpcPort())
                .replace(
                        "localhost:8002",
                        "localhost:" + server.process().metrics().getPort());
    }
}
