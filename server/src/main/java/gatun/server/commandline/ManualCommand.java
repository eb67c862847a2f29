// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.commandline.shell.ManualPage;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code gatun man}: the manual page, made from the commands and flags that there are. */
@Command(
        name = "man",
        description = "Prints the manual page, for 'gatun man | man -l -'.",
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class ManualCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    @Override
    public Integer call() {
        spec.commandLine().getOut().print(ManualPage.of(spec.parent()));
        spec.commandLine().getOut().flush();
        return ExitCode.OK;
    }
}
