// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.configuration.EngineCatalog;
import gatun.spi.discovery.InstalledBackends;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gatun install}, which the launcher does before there is a Java process: here it has its help. */
@Command(
        name = "install",
        description = {
            "Installs a library that does not come along.",
            "",
            "Downloads it with Maven into the user's cache (GATUN_CACHE, or else ~/.cache/gatun), where servers find it."
        },
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class InstallCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Parameters(paramLabel = "LIBRARY")
    String library = "";

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    static CommandLine create() {
        List<String> libraries =
                new EngineCatalog(InstalledBackends.find(Optional.empty()).services()).libraries();
        CommandLine command = new CommandLine(new InstallCommand());
        CommandSpec spec = command.getCommandSpec();
        ArgSpec plain = spec.positionalParameters().getFirst();
        spec.remove(plain);
        String text = String.join(", ", libraries).replaceFirst(", ([^,]*)$", " or $1");
        spec.add(((PositionalParamSpec) plain)
                .toBuilder()
                        .description("What to install: " + text + ".")
                        .completionCandidates(libraries)
                        .build());
        return command;
    }

    @Override
    public Integer call() {
        spec.commandLine().getErr().println("gatun: libraries are installed by the script 'gatun', which was not used");
        spec.commandLine().getErr().flush();
        return ExitCode.SOFTWARE;
    }
}
