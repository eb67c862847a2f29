// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.settings.BatchingSettings;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** How requests share runs, as TensorFlow Serving is told. Read once. */
final class BatchingFlags extends FlagGroup {
    private final Flag<Boolean> enabled = yesOrNo(
            "--enable_batching", false, "Whether requests are joined of models whose configuration does not say how.");
    private final Flag<Optional<Path>> file = optional(
            "--batching_parameters_file",
            FlagType.PATH,
            "How they are joined (BatchingParameters in protobuf's text format).");
    private final Flag<Boolean> eachVersion = yesOrNo(
            "--enable_per_model_batching_parameters",
            false,
            "Whether each version says so itself, in its batching_params.pbtxt; without one it is not joined.");

    /**
     * @throws ParameterException when there are parameters, but batching is off
     */
    Optional<BatchingSettings> settings(CommandSpec command) {
        if (!enabled.value() && (file.value().isPresent() || eachVersion.value())) {
            throw new ParameterException(
                    command.commandLine(),
                    (file.value().isPresent() ? file : eachVersion).name() + " is set without setting " + enabled.name()
                            + " to true.");
        }
        return enabled.value()
                ? Optional.of(new BatchingSettings(file.value(), eachVersion.value()))
                : Optional.empty();
    }
}
