// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code gatun tensorflow_model_server}, which {@link ModelServerArguments} translate: here it has its help. */
@Command(
        name = ModelServerArguments.COMMAND,
        description = {
            "Serves as TensorFlow Serving's program of this name does.",
            "",
            "Takes the command line of that program: listens only where it would, on gRPC port 8500 unless --port says"
                    + " otherwise. 'gatun help serve' lists its flags beside the others."
        },
        customSynopsis = "gatun " + ModelServerArguments.COMMAND + " [FLAG]...",
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class ModelServerCommand implements Callable<Integer> {
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
