// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The command line of TensorFlow Serving's program, translated to flags of {@code gatun serve}. */
final class ModelServerArguments {
    static final String COMMAND = "tensorflow_model_server";

    /** The flags that make this command listen, and retry, as that program does. */
    private static final List<String> DEFAULTS = List.of(
            "serve",
            "--allow-http=false",
            "--allow-grpc=false",
            "--allow-metrics=false",
            "--port=8500",
            "--max_num_load_retries=5",
            "--load_retry_interval_micros=60000000");

    private static final Set<String> VERSION = Set.of("--version", "--version=true");

    private static final String CHANNEL_ARGUMENTS = "--grpc_channel_arguments";

    /** The flags of ours that do the same as an argument of a gRPC channel. */
    private static final Map<String, String> CHANNEL_FLAGS = Map.of(
            "grpc.keepalive_time_ms", "--grpc-keepalive-time",
            "grpc.keepalive_timeout_ms", "--grpc-keepalive-timeout",
            "grpc.keepalive_permit_without_calls", "--grpc-keepalive-permit-without-calls",
            "grpc.http2.max_pings_without_data", "--grpc-http2-max-pings-without-data",
            "grpc.http2.min_ping_interval_without_data_ms", "--grpc-http2-min-recv-ping-interval-without-data",
            "grpc.http2.max_ping_strikes", "--grpc-http2-max-ping-strikes",
            "grpc.max_connection_age_ms", "--grpc-max-connection-age",
            "grpc.max_connection_age_grace_ms", "--grpc-max-connection-age-grace");

    private ModelServerArguments() {}

    static boolean askVersion(String... arguments) {
        return arguments.length > 0
                && arguments[0].equals(COMMAND)
                && Arrays.stream(arguments).anyMatch(VERSION::contains);
    }

    static String[] translate(String... arguments) {
        List<String> translated = new ArrayList<>();
        for (String argument : arguments) {
            if (translated.isEmpty() && argument.equals(COMMAND)) {
                translated.addAll(DEFAULTS);
            } else if (argument.startsWith(CHANNEL_ARGUMENTS + "=")) {
                channelArguments(argument.substring(CHANNEL_ARGUMENTS.length() + 1), translated);
            } else {
                translated.add(argument);
            }
        }
        return translated.toArray(String[]::new);
    }

    /** Translates the arguments that have a flag of ours; the others stay, and are reported as having no effect. */
    private static void channelArguments(String list, List<String> translated) {
        List<String> others = new ArrayList<>();
        for (String argument : list.split(",", -1)) {
            int equals = argument.indexOf('=');
            String flag = equals < 0 ? null : CHANNEL_FLAGS.get(argument.substring(0, equals));
            if (flag == null) {
                others.add(argument);
            } else {
                translated.add(flag + argument.substring(equals));
            }
        }
        if (!others.isEmpty()) {
            translated.add(CHANNEL_ARGUMENTS + "=" + String.join(",", others));
        }
    }
}
