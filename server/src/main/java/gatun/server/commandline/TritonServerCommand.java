// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code gatun tritonserver}, which {@link TritonServerArguments} translate: here it has its help. */
@Command(
        name = TritonServerArguments.COMMAND,
        description = {
            "Serves as Triton's program of this name does.",
            "",
            "Takes the command line of that program, most of which 'gatun serve' has too. A distribution also has it"
                    + " as bin/tritonserver. 'gatun help serve' lists the flags."
        },
        customSynopsis = "gatun " + TritonServerArguments.COMMAND + " [FLAG]...",
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class TritonServerCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return ExitCode.USAGE;
    }
}
