// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.commandline.shell.BashCompletion;
import gatun.server.commandline.shell.FishCompletion;
import gatun.server.commandline.shell.ShellCommand;
import gatun.server.commandline.shell.ZshCompletion;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gatun completion}: a script for a shell, made from the commands and flags that there are. */
@Command(
        name = "completion",
        description = {
            "Prints a script that completes commands and flags in a shell.",
            "",
            "bash:  source <(gatun completion bash)",
            "zsh:   gatun completion zsh > DIR/_gatun, where DIR is in fpath",
            "fish:  gatun completion fish > ~/.config/fish/completions/gatun.fish"
        },
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class CompletionCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Parameters(paramLabel = "SHELL", completionCandidates = Shells.class, description = "bash, zsh or fish.")
    String shell = "";

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    /** The supported shells. */
    static final class Shells extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        Shells() {
            super(List.of("bash", "zsh", "fish"));
        }
    }

    @Override
    public Integer call() {
        List<ShellCommand> commands = ShellCommand.ofAll(spec.parent());
        String script =
                switch (shell.toLowerCase(Locale.ROOT)) {
                    case "bash" -> BashCompletion.script(commands);
                    case "zsh" -> ZshCompletion.script(commands);
                    case "fish" -> FishCompletion.script(commands);
                    default ->
                        throw new ParameterException(
                                spec.commandLine(),
                                "there is no script for '" + shell + "'; known are bash, zsh, fish");
                };
        spec.commandLine().getOut().print(script);
        spec.commandLine().getOut().flush();
        return ExitCode.OK;
    }
}
