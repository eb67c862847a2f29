// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.client.UnreachableException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class BenchCommandTest {
    private final BenchCommand command = new BenchCommand(repository -> {
        throw new UnreachableException("nothing is served from " + repository);
    });
    private final CommandLine line = new CommandLine(command);

    @Test
    void shouldKeepSecretsOutOfTheResult() {
        line.setOverwrittenOptionsAllowed(true);
        line.parseArgs(
                "-m", "simple", "--token=abc", "--token", "def", "-H", "x: ghi", "-Hy: jkl", "--header=z: mno", "-t1");
        assertThat(command.commandLine())
                .isEqualTo("gatun bench -m simple --token=... --token=... ... -H ... ... -H ... --header=... -t1")
                .doesNotContain("abc", "def", "ghi", "jkl", "mno");
    }

    @Test
    void shouldNameItselfOnceInTheResult() {
        new CommandLine(CommandSpec.create().name("gatun"))
                .addSubcommand("bench", line)
                .parseArgs("bench", "-m", "bench");
        assertThat(command.commandLine()).isEqualTo("gatun bench -m bench");
    }

    @Test
    void shouldSayWhatFailedAndExitWithOne() {
        StringWriter err = new StringWriter();
        line.setErr(new PrintWriter(err));
        assertThat(line.execute("-m", "simple", "--embedded=nowhere")).isEqualTo(1);
        assertThat(err.toString()).isEqualTo("gatun: nothing is served from nowhere" + System.lineSeparator());
    }

    @Test
    void shouldShowItsFlags() {
        String help = line.getUsageMessage();
        assertThat(help).startsWith("Usage: gatun bench -m MODEL [-u URL] [FLAG]...");
        assertThat(help).contains("--concurrency", "--request-rate", "--transport", "--expect", "--html", "--embedded");
        assertThat(help.lines()).allSatisfy(text -> assertThat(text.length()).isLessThanOrEqualTo(100));
    }
}
