// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.structure.DocumentedPage.Block;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The README does what it says to somebody who pastes its blocks from top to bottom: its first command starts the
 * server, with the flags that stand there and no others, and all other blocks ask this server.
 */
@Timeout(180)
class ReadmeIT {
    private static final DocumentedPage README = DocumentedPage.read(ServerProcess.root(), Path.of("README.md"));

    /** By the beginning of a block's first line: why it is not pasted here. */
    private static final Map<String, String> NOT_PASTED = Map.of(
            "./gatun serve ", "it starts the server that the other blocks ask",
            "mvn -Pdist package", "it builds for minutes; DistributionIT runs what it makes",
            "mvn verify", "it is the run of all tests, this one among them");

    /** Free ports, which the environment names so that the command stays the README's. */
    private static final Map<String, String> FREE_PORTS =
            Map.of("GATUN_HTTP_PORT", "0", "GATUN_GRPC_PORT", "0", "GATUN_METRICS_PORT", "0");

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(ReadmeIT::start);

    private static ServerProcess start() throws InterruptedException {
        Block first = README.blocks().getFirst();
        assertThat(first.script()).as("the first block starts a server only").isBlank();
        List<String> flags = first.serverFlags().stream()
                .map(flag -> flag.replace("--model-repository=", "--model-repository=" + ServerProcess.root() + "/"))
                .toList();
        return ServerProcess.launchCommand(
                Stream.concat(Stream.of("serve"), flags.stream()).toList(), FREE_PORTS);
    }

    @Test
    void shouldStartTheServerThatItShows() {
        String shown = README.blocks().getFirst().output().orElseThrow();
        assertThat(withoutTimes(server.process().output()))
                .isEqualTo(withoutTimes(new PastedCommands(server, folder).withPorts(shown)));
    }

    /** The text without blanks, whose number follows from the times. */
    private static String withoutTimes(String text) {
        return text.replaceAll("\\s", "")
                .replaceAll("[0-9.]+m?s(?=[|.])", "TIME")
                .replaceAll("-{2,}", "-");
    }

    @Test
    void shouldAnswerAsShownWhenPastedFromTopToBottom() throws Exception {
        List<Block> pasted =
                README.blocks().stream().filter(block -> !isListed(block)).toList();
        assertThat(pasted).as("blocks that ask the server").isNotEmpty().allSatisfy(block -> assertThat(block.output())
                .as(block.text())
                .isPresent());
        new PastedCommands(server, folder).assertOutputs(README, pasted);
    }

    @Test
    void shouldListNoBlocksThatAreNotThere() {
        assertThat(NOT_PASTED.keySet()).allSatisfy(beginning -> assertThat(README.blocks())
                .as("a block that begins with '%s'", beginning)
                .anyMatch(block -> block.firstLine().startsWith(beginning)));
        assertThat(README.blocks().stream().flatMap(block -> block.serverFlags().stream()))
                .as("one block starts a server")
                .containsExactlyElementsOf(README.blocks().getFirst().serverFlags());
    }

    private static boolean isListed(Block block) {
        return NOT_PASTED.keySet().stream().anyMatch(block.firstLine()::startsWith);
    }
}
