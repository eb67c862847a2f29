// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The command line of Triton's program: flags of {@code gatun serve}, or without effect ({@link KnownFlags}). */
final class TritonServerArguments {
    static final String COMMAND = "tritonserver";
    private static final String BACKEND_CONFIG = "--backend-config";

    private static final String HEALTH_BODIES = "--http-health-bodies";

    /** The beginning of the option that Triton also takes for all backends at once. */
    private static final String MAX_BATCH_SIZE = "default-max-batch-size";

    private TritonServerArguments() {}

    static boolean askVersion(String... arguments) {
        return arguments.length > 0
                && arguments[0].equals(COMMAND)
                && List.of(arguments).contains("--version");
    }

    static String[] translate(String... arguments) {
        if (arguments.length == 0 || !arguments[0].equals(COMMAND)) {
            return arguments;
        }
        List<String> translated = new ArrayList<>(List.of("serve"));
        if (Arrays.stream(arguments).noneMatch(argument -> argument.startsWith(HEALTH_BODIES))) {
            // Scripts that wait for Triton compare all that curl prints with the status.
            translated.add(HEALTH_BODIES + "=false");
        }
        for (String argument : Arrays.asList(arguments).subList(1, arguments.length)) {
            boolean separate = translated.getLast().equals(BACKEND_CONFIG);
            String option = separate ? argument : argument.replaceFirst("^" + BACKEND_CONFIG + "=", "");
            if (option.startsWith(MAX_BATCH_SIZE + "=")) {
                if (separate) {
                    translated.removeLast();
                }
                NamedOption.enginesWith(known -> known.ofAll() && known.name().equals(MAX_BATCH_SIZE))
                        .forEach(backend -> translated.add(BACKEND_CONFIG + "=" + backend + "," + option));
            } else {
                translated.add(argument);
            }
        }
        return translated.toArray(String[]::new);
    }
}
