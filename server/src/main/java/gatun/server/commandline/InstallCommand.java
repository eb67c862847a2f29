// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
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
    /** What can be installed. */
    static final List<String> LIBRARIES = List.of("tensorflow", "pytorch", "xgboost", "lightgbm");

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    /** What can be installed, for shells. */
    static final class Libraries extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        Libraries() {
            super(LIBRARIES);
        }
    }

    @Parameters(
            paramLabel = "LIBRARY",
            completionCandidates = Libraries.class,
            description = "What to install: tensorflow, pytorch, xgboost or lightgbm.")
    String library = "";

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    @Override
    public Integer call() {
        spec.commandLine().getErr().println("gatun: libraries are installed by the script 'gatun', which was not used");
        spec.commandLine().getErr().flush();
        return ExitCode.SOFTWARE;
    }
}
