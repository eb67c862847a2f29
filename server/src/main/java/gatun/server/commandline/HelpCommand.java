// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gatun help}: the same as {@code --help}, for those who ask in words. */
@Command(
        name = "help",
        description = "Shows what a command does and which flags it has; without one, the commands.",
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class HelpCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Parameters(arity = "0..1", paramLabel = "COMMAND", description = "One of the commands.")
    Optional<String> command = Optional.empty();

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    @Override
    public Integer call() {
        CommandLine gatun = spec.parent().commandLine();
        CommandLine asked = command.map(name -> named(gatun, name)).orElse(gatun);
        asked.usage(spec.commandLine().getOut());
        return ExitCode.OK;
    }

    private CommandLine named(CommandLine gatun, String name) {
        @Nullable CommandLine found = gatun.getSubcommands().get(name);
        if (found != null) {
            return found;
        }
        String wrong = "there is no command '" + name + "'.";
        throw new ParameterException(
                spec.commandLine(),
                NearestFlag.to(name, gatun.getSubcommands().keySet())
                        .map(nearest -> wrong + " Did you mean " + nearest + "?")
                        .orElse(wrong + " There are: "
                                + String.join(", ", gatun.getSubcommands().keySet())));
    }
}
