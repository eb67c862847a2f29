package gatun.server.commandline;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.StringTokenizer;
import java.util.TreeMap;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * The flags of other servers that have no effect here. Images and scripts carry long lists of them, so they are taken
 * with a warning. Those that protect a server are not: to drop them silently would open what the operator meant to
 * close.
 */
final class KnownFlags {
    private static final String TRITON = "Triton";
    private static final String TENSORFLOW_SERVING = "TensorFlow Serving";

    private static final String NO_TLS = "Gatun does not serve TLS yet, and without it the port would lie open;"
            + " remove the flag and put a proxy that ends TLS in front";

    /** Flags that must not be dropped silently, and why. */
    private static final Map<String, String> PROTECTIVE = Map.of("--ssl_config_file", NO_TLS);

    /** Flag to the server that it comes from. */
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

    /**
     * One line for each flag without effect that was given.
     *
     * @throws ParameterException when one of them protects the server
     */
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
            warnings.add(name + " is a flag of " + origin + " that has no effect in Gatun; it is ignored");
        });
        return warnings;
    }

    private static Map<String, String> origins() {
        Map<String, String> origins = new TreeMap<>();
        add(origins, TRITON, """
                --allow-sagemaker --allow-vertex-ai
                --buffer-manager-thread-count --cache-directory --cuda-memory-pool-byte-size
                --cuda-virtual-address-size --enable-peer-access
                --grpc-infer-allocation-pool-size
                --grpc-infer-thread-count
                --grpc-max-response-pool-size
                --host-policy
                --http-thread-count
                --min-supported-compute-capability --model-load-gpu-limit
                --model-namespacing --repoagent-directory --reuse-grpc-port
                --reuse-http-port --sagemaker-port --sagemaker-safe-port-range --sagemaker-thread-count
                --trace-count --trace-file --trace-level --trace-log-frequency --trace-rate
                --vertex-ai-default-model --vertex-ai-port --vertex-ai-thread-count""");
        add(origins, TENSORFLOW_SERVING, """
                --allow_version_labels_for_unavailable_models --batching_parameters_file --enable_batching
                --enable_grpc_healthcheck_service --enable_per_model_batching_parameters
                --flush_filesystem_caches --grpc_channel_arguments --grpc_max_threads --grpc_socket_path
                --load_retry_interval_micros --max_num_load_retries --monitoring_config_file --num_load_threads
                --num_unload_threads --per_process_gpu_memory_fraction
                --rest_api_num_threads --saved_model_tags --ssl_config_file
                --tensorflow_inter_op_parallelism --tensorflow_intra_op_parallelism
                --tensorflow_session_parallelism""");
        return origins;
    }

    private static void add(Map<String, String> origins, String origin, String names) {
        for (StringTokenizer words = new StringTokenizer(names); words.hasMoreTokens(); ) {
            origins.put(words.nextToken(), origin);
        }
    }
}
