// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.settings.BatchingSettings;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** TensorFlow Serving's flags for sharing runs among requests. Filled by picocli, read once. */
final class BatchingFlags {
    private static final String ENABLE = "--enable_batching";
    private static final String FILE = "--batching_parameters_file";
    private static final String EACH = "--enable_per_model_batching_parameters";

    @Option(
            names = ENABLE,
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description = "Whether requests are joined of models whose configuration does not say how.")
    boolean enabled;

    @Option(
            names = FILE,
            paramLabel = "FILE",
            description = "How they are joined (BatchingParameters in protobuf's text format).")
    Optional<Path> file = Optional.empty();

    @Option(
            names = EACH,
            paramLabel = "BOOL",
            arity = "0..1",
            defaultValue = "false",
            fallbackValue = "true",
            converter = FlagValues.TrueFalse.class,
            description =
                    "Whether each version says so itself, in its batching_params.pbtxt; without one it is not joined.")
    boolean eachVersion;

    /**
     * @throws ParameterException when there are parameters, but batching is off
     */
    Optional<BatchingSettings> settings(CommandSpec command) {
        if (!enabled && (file.isPresent() || eachVersion)) {
            throw new ParameterException(
                    command.commandLine(),
                    (file.isPresent() ? FILE : EACH) + " is set without setting " + ENABLE + " to true.");
        }
        return enabled ? Optional.of(new BatchingSettings(file, eachVersion)) : Optional.empty();
    }
}
