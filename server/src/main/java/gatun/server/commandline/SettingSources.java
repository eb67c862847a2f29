// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.commandline.FlagErrors.FlagNames;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Flags from the command line, before the environment, before {@code --config}; each replaces weaker values. */
final class SettingSources {
    static final String CONFIG_FLAG = "--config";

    private final Map<OptionSpec, String> origins = new HashMap<>();

    /**
     * The arguments of all sources together. {@code environment} is empty for a server inside another program. Throws
     * {@link ConfigurationFile.InvalidFileException} when something is wrong with the file.
     */
    List<String> merge(CommandSpec command, List<String> arguments, Map<String, String> environment) {
        Set<@Nullable OptionSpec> given = arguments.stream()
                .map(FlagNames::ofArgument)
                .map(command.optionsMap()::get)
                .collect(Collectors.toSet());
        List<SettingSource> variables = EnvironmentVariables.read(command, environment);
        List<String> merged = new ArrayList<>();
        Optional<String> file = file(arguments, variables);
        List<SettingSource> filed = file.isPresent() ? ConfigurationFile.read(Path.of(file.get()), command) : List.of();
        CloudVariables.read(command, environment).stream()
                .filter(source -> filed.stream().noneMatch(source::isOfSameFlag))
                .filter(source -> variables.stream().noneMatch(source::isOfSameFlag))
                .filter(source -> !given.contains(source.flag()))
                .forEach(source -> add(source, merged));
        filed.stream()
                .filter(source -> variables.stream().noneMatch(source::isOfSameFlag))
                .filter(source -> !given.contains(source.flag()))
                .forEach(source -> add(source, merged));
        variables.stream().filter(source -> !given.contains(source.flag())).forEach(source -> add(source, merged));
        merged.addAll(arguments);
        return merged;
    }

    /** Whether a variable may set a flag. */
    static boolean areIn(Map<String, String> environment) {
        return environment.keySet().stream()
                .anyMatch(name -> EnvironmentVariables.mayBeFlag(name) || CloudVariables.isOne(name));
    }

    /** The source of a flag, for errors about its value; empty for the command line. */
    Optional<String> origin(OptionSpec flag) {
        return Optional.ofNullable(origins.get(flag));
    }

    private void add(SettingSource source, List<String> merged) {
        origins.put(source.flag(), source.origin());
        for (String value : source.values()) {
            merged.add(FlagNames.first(source.flag()) + "=" + value);
        }
    }

    private static Optional<String> file(List<String> arguments, List<SettingSource> variables) {
        for (int i = arguments.size() - 1; i >= 0; i--) {
            String argument = arguments.get(i);
            if (argument.startsWith(CONFIG_FLAG + "=")) {
                return Optional.of(argument.substring(CONFIG_FLAG.length() + 1));
            }
            if (argument.equals(CONFIG_FLAG) && i + 1 < arguments.size()) {
                return Optional.of(arguments.get(i + 1));
            }
        }
        return variables.stream()
                .filter(source -> Arrays.asList(source.flag().names()).contains(CONFIG_FLAG))
                .map(source -> source.values().getFirst())
                .findFirst();
    }

    /** The environment variables by which Vertex AI and SageMaker tell a container what they expect of it. */
    static final class CloudVariables {
        private static final String MODE = "AIP_MODE";
        private static final String PREDICTION = "PREDICTION";

        private static final Map<String, String> FLAGS = Map.of(
                "AIP_HTTP_PORT", "--vertex-ai-port",
                "AIP_PREDICT_ROUTE", "--vertex-ai-predict-route",
                "AIP_HEALTH_ROUTE", "--vertex-ai-health-route",
                "AIP_STORAGE_URI", "--model-repository",
                "SAGEMAKER_TRITON_PING_MODE", "--sagemaker-ping-mode",
                "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME", "--sagemaker-default-model",
                "SAGEMAKER_TRITON_INFERENCE_TYPE", "--sagemaker-inference-type");

        private CloudVariables() {}

        static boolean isOne(String variable) {
            return variable.equals(MODE) || FLAGS.containsKey(variable);
        }

        /** The flags that {@code environment} sets, where nothing else sets them. */
        static List<SettingSource> read(CommandSpec command, Map<String, String> environment) {
            List<SettingSource> found = new ArrayList<>();
            if (PREDICTION.equals(environment.get(MODE))) {
                add(command, "--allow-vertex-ai", "true", MODE, found);
                add(command, "--allow-http", "false", MODE, found);
                add(command, "--allow-grpc", "false", MODE, found);
                // What asks there is no browser, and may run beside the server in its Pod.
                add(command, "--allow-host", "*", MODE, found);
            }
            FLAGS.forEach((variable, flag) -> {
                String value = environment.get(variable);
                if (value != null && !value.isEmpty()) {
                    add(command, flag, value, variable, found);
                }
            });
            return found;
        }

        /** Adds a value of a flag, if the protocol is there that has it. */
        private static void add(
                CommandSpec command, String flag, String value, String variable, List<SettingSource> found) {
            OptionSpec option = command.optionsMap().get(flag);
            if (option != null) {
                found.add(new SettingSource(option, List.of(value), variable));
            }
        }
    }

    /** The values of a flag. {@code origin} is for errors: {@code GATUN_HTTP_PORT}, or file, line, column and key. */
    record SettingSource(OptionSpec flag, List<String> values, String origin) {
        /** Whether both are values of the same flag. */
        boolean isOfSameFlag(SettingSource other) {
            return flag.equals(other.flag);
        }
    }
}
