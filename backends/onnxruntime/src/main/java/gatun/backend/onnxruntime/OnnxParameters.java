// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A configuration's {@code parameters} by their names, which users of Triton's ONNX Runtime backend know. */
record OnnxParameters(Map<String, String> values) {
    /** Parameters with these beginnings go to the engine as they are. */
    private static final List<String> ENTRY_PREFIXES = List.of("session.", "optimization.", "memory.", "ep.", "mlas.");

    /** The engine makes the threads that it is told to, and ends the process when the system has no more. */
    private static final int MAX_THREADS = 1024;

    /** An entry of a run's configuration, not of a session's. */
    static final String SHRINKAGE = "memory.enable_memory_arena_shrinkage";

    /** An entry that has the engine read a file as one of its own format, whatever its name is. */
    private static final String FORMAT = "session.load_model_format";

    /** What a load request may set: how a graph is run, neither files nor limits. Others are the operator's. */
    static final Set<String> REQUESTED = Set.of(
            "enable_mem_arena",
            "enable_mem_pattern",
            "execution_mode",
            "inter_op_thread_count",
            "intra_op_thread_count",
            SHRINKAGE,
            "optimization.enable_gelu_approximation",
            "session.disable_prepacking",
            "session.dynamic_block_base",
            "session.force_spinning_stop",
            "session.inter_op.allow_spinning",
            "session.intra_op.allow_spinning",
            "session.set_denormal_as_zero",
            // Of the provider for GPUs; its gpu_mem_limit is a limit.
            "arena_extend_strategy",
            "cudnn_conv_algo_search",
            "cudnn_conv_use_max_workspace",
            "tunable_op_enable",
            "use_tf32");

    private static final Pattern DEVICES = Pattern.compile("(cpu|gpu):\\d+(;(cpu|gpu):\\d+)*");

    /** Those of a configuration. Throws {@link ConfigurationException} when one names a file for the engine. */
    static OnnxParameters of(ModelConfig config) {
        Map<String, String> values = new TreeMap<>();
        config.getParametersMap().forEach((name, value) -> {
            requireNoFile(name);
            values.put(name, value.getStringValue().strip());
        });
        return new OnnxParameters(values);
    }

    /** Some entries have the engine read or write files anywhere; whoever may load a model may not do that. */
    private static void requireNoFile(String name) {
        if (isEntry(name) && (name.contains("path") || name.contains("file"))) {
            throw wrong(
                    name, "names a file for the engine, which is not allowed; put the model's files into its folder");
        }
    }

    private static boolean isEntry(String name) {
        return ENTRY_PREFIXES.stream().anyMatch(name::startsWith);
    }

    /** Threads within an operator; empty for a choice. Throws {@link ConfigurationException} for no such number. */
    Optional<Integer> intraOpThreads() {
        return threads("intra_op_thread_count");
    }

    /** The threads that run operators side by side, as {@link #intraOpThreads}. */
    Optional<Integer> interOpThreads() {
        return threads("inter_op_thread_count");
    }

    private Optional<Integer> threads(String name) {
        String text = values.get(name);
        if (text == null) {
            return Optional.empty();
        }
        try {
            int value = Integer.parseInt(text);
            if (value > MAX_THREADS) {
                throw wrong(name, "is '" + text + "'; expected at most " + MAX_THREADS);
            }
            if (value >= 0) {
                return Optional.of(value).filter(count -> count > 0);
            }
        } catch (NumberFormatException e) {
            // Falls through to the one error for everything that is no count.
        }
        throw wrong(name, "is '" + text + "'; expected a number >= 0");
    }

    /** Whether a parameter is 1 or true. Throws {@link ConfigurationException} for others than 0, 1, true and false. */
    boolean flag(String name, boolean absent) {
        String text = values.get(name);
        if (text == null) {
            return absent;
        }
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "1", "true" -> true;
            case "0", "false" -> false;
            default -> throw wrong(name, "is '" + text + "'; expected 0, 1, true or false");
        };
    }

    /** Whether sessions keep memory for later runs. */
    boolean usesArenas() {
        return flag("enable_mem_arena", true);
    }

    /** The entries of a session's configuration, in the order of their names. */
    Map<String, String> sessionEntries() {
        return values.entrySet().stream()
                .filter(entry -> isEntry(entry.getKey()) && !entry.getKey().equals(SHRINKAGE))
                .collect(Collectors.toMap(
                        Map.Entry::getKey, Map.Entry::getValue, (first, second) -> first, TreeMap::new));
    }

    /** Whether the configuration has the engine read another format than ONNX's. */
    boolean isOfOwnFormat() {
        return !values.getOrDefault(FORMAT, "ONNX").equals("ONNX");
    }

    /** Entries of every run's configuration. Throws {@link ConfigurationException} for one that would fail them all. */
    Map<String, String> runEntries() {
        String devices = values.get(SHRINKAGE);
        if (devices == null) {
            return Map.of();
        }
        if (!DEVICES.matcher(devices).matches()) {
            throw wrong(SHRINKAGE, "is '" + devices + "'; expected devices such as cpu:0 or cpu:0;gpu:0");
        }
        return Map.of(SHRINKAGE, devices);
    }

    private static ConfigurationException wrong(String name, String text) {
        return new ConfigurationException(ConfigurationPath.ofParameter(name), "parameter '" + name + "' " + text);
    }
}
