// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.server.EmbeddedServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The page of flags in the documentation, which is made from the flags. */
class FlagReferenceTest {
    @Test
    void shouldListTheFlagsThatThereAre() throws Exception {
        Path page = Path.of("../docs/reference/flags.md");
        CommandLine command = GatunCommand.create("1.2.3", (settings, log, warnings) -> 0, EmbeddedServer::ownedClient);

        String made = FlagReference.markdown(
                Objects.requireNonNull(command.getSubcommands().get("serve")).getCommandSpec());

        Path written = Files.writeString(Path.of("target/flags.md"), made);
        assertThat(made).as("%s; copy %s there", page, written).isEqualTo(Files.readString(page));
    }
}
