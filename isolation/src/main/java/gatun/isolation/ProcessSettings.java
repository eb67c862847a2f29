// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.backend.support.TimeParameter;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * How the processes of a model run, as the parameters of its configuration say it.
 *
 * @param scope what a process is for
 * @param executionLimit how long a run may take before its process is ended; zero for ever
 * @param tensorMemory the most bytes of inputs, and the most of outputs, that a process has at a time
 * @param memoryLimit the most resident memory of a process in bytes; 0 for no limit
 * @param niceness what is added to the server's own, from 0 to 19
 * @param cores the cores that it may use, such as {@code 0-3,7}; empty for all
 * @param environment variables that a process has beside the server's own
 * @param spinNanos how long each side looks for its turn before it sleeps
 */
record ProcessSettings(
        Scope scope,
        Duration executionLimit,
        long tensorMemory,
        long memoryLimit,
        int niceness,
        String cores,
        Map<String, String> environment,
        long spinNanos) {
    private static final String SCOPE = "isolation_scope";
    private static final String EXECUTION_LIMIT = "execution_timeout_ms";
    private static final String TENSOR_MEMORY = "isolation_tensor_memory";
    private static final String MEMORY_LIMIT = "isolation_memory_limit";
    private static final String NICENESS = "isolation_nice";
    private static final String CORES = "isolation_cores";
    private static final String ENVIRONMENT = "isolation_env.";
    private static final String SPIN = "isolation_spin_us";

    private static final long USUAL_TENSOR_MEMORY = 256L << 20;
    private static final long LEAST_TENSOR_MEMORY = 1 << 20;
    private static final long MOST_MEMORY = 1L << 44;
    private static final long LEAST_MEMORY = 64 << 20;
    private static final int MOST_NICENESS = 19;
    private static final long MOST_SPIN_MICROS = 1_000_000;
    private static final Pattern CORE_LIST = Pattern.compile("[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*");

    private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /** What a process is for. */
    enum Scope {
        /** One instance. */
        INSTANCE,
        /** All instances of the model. */
        MODEL
    }

    /**
     * The settings that {@code config} has.
     *
     * @throws ConfigurationException when one of them is wrong
     */
    static ProcessSettings of(ModelConfig config) {
        return new ProcessSettings(
                scope(config),
                TimeParameter.of(config, EXECUTION_LIMIT, TimeUnit.MILLISECONDS),
                number(config, TENSOR_MEMORY, LEAST_TENSOR_MEMORY, MOST_MEMORY, USUAL_TENSOR_MEMORY),
                number(config, MEMORY_LIMIT, LEAST_MEMORY, MOST_MEMORY, 0),
                (int) number(config, NICENESS, 0, MOST_NICENESS, 0),
                cores(config),
                environment(config),
                TimeUnit.MICROSECONDS.toNanos(number(config, SPIN, 0, MOST_SPIN_MICROS, 0)));
    }

    private static Scope scope(ModelConfig config) {
        String text = text(config, SCOPE);
        return switch (text) {
            case "", "instance" -> Scope.INSTANCE;
            case "model" -> Scope.MODEL;
            default -> throw wrong(SCOPE, text, "instance or model");
        };
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
        return Map.copyOf(variables);
    }

    private static long number(ModelConfig config, String parameter, long least, long most, long otherwise) {
        String text = text(config, parameter);
        if (text.isEmpty()) {
            return otherwise;
        }
        boolean digits = text.matches("[0-9]{1,18}");
        long number = digits ? Long.parseLong(text) : -1;
        if (number < least || number > most) {
            throw wrong(parameter, text, "a number from " + least + " to " + most);
        }
        return number;
    }

    private static ConfigurationException wrong(String parameter, String text, String expected) {
        return new ConfigurationException(
                ConfigurationPath.ofParameter(parameter),
                "parameter '" + parameter + "' is '" + text + "', expected " + expected);
    }

    private static String text(ModelConfig config, String parameter) {
        return config.containsParameters(parameter)
                ? config.getParametersOrThrow(parameter).getStringValue()
                : "";
    }
}
