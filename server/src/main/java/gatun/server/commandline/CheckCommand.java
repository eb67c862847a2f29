// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.check.Checking;
import gatun.server.settings.CheckSettings;
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

/** {@code gatun check}: would these models be served, and if not, what is to be written instead? */
@Command(
        name = "check",
        description = {
            "Checks models without serving them.",
            "",
            "Loads each model as the server would, shows its configuration as completed, and tells what is wrong with"
                    + " file, line and what to write instead. Exits with 0 when all models would be served, with 1"
                    + " when one would not, with 2 when there is nothing to check."
        },
        sortOptions = false,
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class CheckCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Parameters(
            arity = "1..*",
            paramLabel = "PATH",
            description = "A model repository (a folder that holds one folder per model), the folder of one model, a"
                    + " SavedModel's folder, or a model's file such as resnet.onnx.")
    List<Path> paths = new ArrayList<>();

    @Option(
            names = "--model",
            paramLabel = "NAME",
            description = "Check this model and no other; may be given several times.")
    List<String> models = new ArrayList<>();

    @Option(names = "--quiet", description = "Do not show the configurations.")
    boolean quiet;

    @Option(
            names = "--disable-auto-complete-config",
            description = "Take each config.pbtxt as it is, and do not complete it from the model's file.")
    boolean disableAutoComplete;

    @Option(
            names = "--model-namespacing",
            arity = "0..1",
            paramLabel = "true|false",
            fallbackValue = "true",
            defaultValue = "false",
            description = "Let models of several repositories have the same name, as a server with this flag does.")
    boolean modelNamespacing;

    @Option(
            names = "--model-config-name",
            paramLabel = "NAME",
            defaultValue = "",
            description = "Take configs/NAME.pbtxt of each model that has it instead of its config.pbtxt.")
    String configName = "";

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
        CheckSettings settings = new CheckSettings(
                paths,
                models,
                configName,
                !disableAutoComplete,
                modelNamespacing,
                NamedOption.byOwner(backendOptions),
                backendDirectory,
                !quiet);
        return Checking.run(
                settings, spec.commandLine().getOut(), spec.commandLine().getErr());
    }
}
