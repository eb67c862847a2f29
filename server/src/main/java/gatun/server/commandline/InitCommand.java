// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.layout.ModelLayout;
import gatun.server.layout.ModelLayout.LayoutSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gatun init}: a model repository for a model's file. */
@Command(
        name = "init",
        description = {
            "Lays a model out as a model repository.",
            "",
            "Copies a model's file, or a SavedModel's folder, into a model repository, and writes a config.pbtxt that"
                    + " says what the model takes and gives, and explains what else can be set. Changes nothing that is"
                    + " there. Exits with 0 when the model is laid out, with 1 when it could not be served, with 2"
                    + " when there is no such model or no place for it."
        },
        sortOptions = false,
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class InitCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Parameters(paramLabel = "MODEL", description = "A model's file such as resnet.onnx, or a SavedModel's folder.")
    Path model = Path.of("");

    @Option(
            names = "--model-repository",
            paramLabel = "DIR",
            defaultValue = "models",
            description = "The model repository that gets it; made if it is not there (default: ${DEFAULT-VALUE}).")
    Path repository = Path.of("");

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "The model's name for clients; that of the file or folder unless this is given.")
    Optional<String> name = Optional.empty();

    @Option(
            names = "--backend-config",
            paramLabel = "BACKEND,K=V",
            converter = NamedOption.BackendReader.class,
            description = "An option of a backend; may be given several times.")
    List<NamedOption> backendOptions = new ArrayList<>();

    @Option(names = "--backend-directory", paramLabel = "DIR", description = "A folder with more backends.")
    Optional<Path> backendDirectory = Optional.empty();

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    @Override
    public Integer call() {
        LayoutSettings settings =
                new LayoutSettings(model, repository, name, NamedOption.byOwner(backendOptions), backendDirectory);
        return ModelLayout.run(
                settings, spec.commandLine().getOut(), spec.commandLine().getErr());
    }
}
