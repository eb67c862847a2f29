// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What a model's processes may take, by its configuration: bytes of resident memory (0 for no limit), niceness beside
 * the server's (0 to 19), cores such as {@code 0-3,7} (empty for all), variables beside the server's, and their user
 * (empty for the server's own).
 */
public record ProcessLimits(
        long memory, int niceness, String cores, Map<String, String> environment, Optional<WorkerUser> user) {
    private static final String MEMORY = "isolation_memory_limit";
    private static final String NICENESS = "isolation_nice";
    private static final String CORES = "isolation_cores";
    private static final String ENVIRONMENT = "isolation_env.";

    private static final long MOST_MEMORY = 1L << 44;
    private static final long LEAST_MEMORY = 64 << 20;
    private static final int MOST_NICENESS = 19;
    private static final Pattern CORE_LIST = Pattern.compile("[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*");
    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    /** Keeps a copy of the variables. */
    public ProcessLimits {
        environment = Map.copyOf(environment);
    }

    /** The limits of {@code config}. Throws {@link ConfigurationException} when one of them is wrong. */
    public static ProcessLimits of(ModelConfig config) {
        return new ProcessLimits(
                number(config, MEMORY, LEAST_MEMORY, MOST_MEMORY, 0),
                (int) number(config, NICENESS, 0, MOST_NICENESS, 0),
                cores(config),
                environment(config),
                WorkerUser.of(config));
    }

    private static String cores(ModelConfig config) {
        String text = text(config, CORES);
        if (!text.isEmpty() && !CORE_LIST.matcher(text).matches()) {
            throw wrong(CORES, text, "numbers of cores and ranges, such as 0-3,7");
        }
        return text;
    }

    private static Map<String, String> environment(ModelConfig config) {
        Map<String, String> variables = new TreeMap<>();
        config.getParametersMap().forEach((name, value) -> {
            if (!name.startsWith(ENVIRONMENT)) {
                return;
            }
            String variable = name.substring(ENVIRONMENT.length());
            if (!VARIABLE.matcher(variable).matches()) {
                throw new ConfigurationException(
                        ConfigurationPath.ofParameter(name),
                        "parameter '" + name + "' names no variable: expected " + ENVIRONMENT
                                + " and a name of letters, digits and _");
            }
            variables.put(variable, value.getStringValue());
        });
        return variables;
    }

    /** A whole number, or {@code otherwise} if not set. Throws {@link ConfigurationException} for another text. */
    public static long number(ModelConfig config, String parameter, long least, long most, long otherwise) {
        String text = text(config, parameter);
        if (text.isEmpty()) {
            return otherwise;
        }
        long number = NUMBER.matcher(text).matches() ? Long.parseLong(text) : -1;
        if (number < least || number > most) {
            throw wrong(parameter, text, "a number from " + least + " to " + most);
        }
        return number;
    }

    /** The text of a parameter; empty where there is none. */
    public static String text(ModelConfig config, String parameter) {
        return config.containsParameters(parameter)
                ? config.getParametersOrThrow(parameter).getStringValue()
                : "";
    }

    /** What to say of a parameter that is {@code text}. */
    public static ConfigurationException wrong(String parameter, String text, String expected) {
        return new ConfigurationException(
                ConfigurationPath.ofParameter(parameter),
                "parameter '" + parameter + "' is '" + text + "', expected " + expected);
    }

    /** Has a command run as the {@link #user}, with {@code files} open and the redirections of a shell. */
    public WorkerProcess.Command asUser(WorkerProcess.Command command, InheritedFiles files, String redirections) {
        List<String> program = command.builder().command();
        ProcessBuilder builder = command.builder().command(files.command(redirections, user, program));
        user.ifPresent(other -> builder.environment().putAll(other.environment()));
        return new WorkerProcess.Command(command.name(), builder);
    }

    /** Sets the system's limits on a process that is not started yet, except for the {@linkplain #asUser user}. */
    public WorkerProcess.Command on(WorkerProcess.Command command) {
        List<String> limited = new ArrayList<>();
        if (niceness > 0) {
            limited.addAll(List.of("nice", "-n", Integer.toString(niceness)));
        }
        if (!cores.isEmpty()) {
            limited.addAll(List.of("taskset", "--cpu-list", cores));
        }
        limited.addAll(command.builder().command());
        ProcessBuilder builder = command.builder().command(limited);
        builder.environment().putAll(environment);
        return new WorkerProcess.Command(command.name(), builder);
    }
}
