// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

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

/**
 * The sources of the flags of {@code gatun serve}: the command line, before the environment, before the file that
 * {@code --config} names. A flag in a stronger source replaces all its values in a weaker one. For one thread.
 */
final class SettingSources {
    /** Names the file. */
    static final String CONFIG_FLAG = "--config";

    private final Map<OptionSpec, String> origins = new HashMap<>();

    /**
     * The command line that has the meaning of all sources together.
     *
     * @param arguments the arguments after the command
     * @param environment the environment's variables; empty for a server inside another program, whose environment is
     *     not ours
     * @throws ConfigurationFile.InvalidFileException when there is a file, and something is wrong with it
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
}
