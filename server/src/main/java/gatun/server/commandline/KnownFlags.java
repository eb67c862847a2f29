// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringTokenizer;
import java.util.TreeMap;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * Flags of other servers that have no effect here. Images and scripts carry long lists of them, so they are accepted
 * with a warning, unless they protect a server: to drop those would leave open what the operator meant to close.
 */
final class KnownFlags {
    private static final String TRITON = "Triton";
    private static final String TENSORFLOW_SERVING = "TensorFlow Serving";

    private static final String NO_ALTS = "Gatun does not know Google's ALTS, and without it the port would lie open;"
            + " serve TLS by --grpc-use-ssl or --ssl_config_file instead";

    /** Flags that must not be dropped silently, with the reasons. */
    private static final Map<String, String> PROTECTIVE = Map.of("--use_alts_credentials", NO_ALTS);

    private static final String NO_THREADS = "each request has a virtual thread, and there is no limit to set";
    private static final String NO_LITE = "TensorFlow Lite models are not served";
    private static final String NO_XLA =
            "TensorFlow runs graphs as they are; set TF_XLA_FLAGS in the environment to try"
                    + " the compiler of its library";

    /** The reasons why flags of TensorFlow Serving have no effect. */
    private static final Map<String, String> REASONS = Map.ofEntries(
            Map.entry("--rest_api_num_threads", NO_THREADS),
            Map.entry("--grpc_max_threads", NO_THREADS),
            Map.entry(
                    "--grpc_channel_arguments",
                    "only the arguments that have a flag of Gatun's own are known: those of keepalive, pings and a"
                            + " connection's age"),
            Map.entry("--num_unload_threads", "what is unloaded has a thread of its own, and no request waits for it"),
            Map.entry(
                    "--flush_filesystem_caches", "the operating system gives up what it has cached of files by itself"),
            Map.entry("--per_process_gpu_memory_fraction", "TensorFlow runs on processors here"),
            Map.entry("--enable_grpc_healthcheck_service", "the health service is there in any case"),
            Map.entry("--prefer_tflite_model", NO_LITE),
            Map.entry("--num_tflite_pools", NO_LITE),
            Map.entry("--num_tflite_interpreters_per_pool", NO_LITE),
            Map.entry("--xla_cpu_compilation_enabled", NO_XLA),
            Map.entry("--xla_gpu_compilation_enabled", NO_XLA),
            Map.entry("--mixed_precision", "models run with the numbers that they were saved with"),
            Map.entry("--skip_initialize_tpu", "there are no TPUs here"),
            Map.entry("--remove_unused_fields_from_bundle_metagraph", "a model's description is not kept in memory"),
            Map.entry("--thread_pool_factory_config_file", "TensorFlow has its own threads"),
            Map.entry("--platform_config_file", "the files of a model say which engine runs it"));

    /** The flag whose number of threads Triton checks. */
    private static final String GRPC_THREADS = "--grpc-infer-thread-count";

    /** The least and the greatest threads that Triton takes for its calls of gRPC. */
    private static final int LEAST_GRPC_THREADS = 2;

    private static final int MOST_GRPC_THREADS = 128;

    /** The server that each flag comes from. */
    private static final Map<String, String> ORIGINS = origins();

    private KnownFlags() {}

    /** Lets {@code command} parse the flags without effect; they do not appear in its help. */
    static void addTo(CommandSpec command) {
        ORIGINS.keySet()
                .forEach(name -> command.addOption(OptionSpec.builder(name)
                        .type(List.class)
                        .auxiliaryTypes(String.class)
                        .arity("0..1")
                        .fallbackValue("true")
                        .hidden(true)
                        .build()));
    }

    /** One line for each that was given. Throws {@link ParameterException} for protective flags and invalid values. */
    static List<String> warnings(ParseResult parsed) {
        List<String> warnings = new ArrayList<>();
        ORIGINS.forEach((name, origin) -> {
            if (!parsed.hasMatchedOption(name)) {
                return;
            }
            String reason = PROTECTIVE.get(name);
            List<String> values = parsed.matchedOptionValue(name, List.of());
            if (reason != null && !values.stream().allMatch("false"::equalsIgnoreCase)) {
                throw new ParameterException(parsed.commandSpec().commandLine(), name + ": " + reason + ".");
            }
            if (name.equals(GRPC_THREADS)) {
                values.forEach(value -> requireThreads(parsed, value));
            }
            warnings.add(name + " is a flag of " + origin + " that has no effect in Gatun"
                    + Optional.ofNullable(REASONS.get(name))
                            .map(why -> ": " + why)
                            .orElse("; it is ignored"));
        });
        return warnings;
    }

    private static void requireThreads(ParseResult parsed, String value) {
        boolean isThere = value.matches("[0-9]{1,3}")
                && Integer.parseInt(value) >= LEAST_GRPC_THREADS
                && Integer.parseInt(value) <= MOST_GRPC_THREADS;
        if (!isThere) {
            throw new ParameterException(
                    parsed.commandSpec().commandLine(),
                    GRPC_THREADS + " is '" + value + "': expected a number from " + LEAST_GRPC_THREADS + " to "
                            + MOST_GRPC_THREADS + ", as Triton takes it; it has no effect here and can be left out.");
        }
    }

    private static Map<String, String> origins() {
        Map<String, String> origins = new TreeMap<>();
        add(origins, TRITON, """
                --buffer-manager-thread-count --cache-directory
                --cuda-virtual-address-size --enable-peer-access
                --grpc-infer-allocation-pool-size
                --grpc-infer-thread-count
                --grpc-max-response-pool-size
                --host-policy
                --http-thread-count
                --min-supported-compute-capability --model-load-gpu-limit
                --repoagent-directory --reuse-grpc-port --reuse-http-port --sagemaker-thread-count
                --trace-count --trace-file --trace-level --trace-log-frequency --trace-rate
                --vertex-ai-thread-count""");
        add(origins, TENSORFLOW_SERVING, "--use_alts_credentials");
        REASONS.keySet().forEach(name -> origins.put(name, TENSORFLOW_SERVING));
        return origins;
    }

    private static void add(Map<String, String> origins, String origin, String names) {
        for (StringTokenizer words = new StringTokenizer(names); words.hasMoreTokens(); ) {
            origins.put(words.nextToken(), origin);
        }
    }
}
