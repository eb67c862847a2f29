// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import com.google.protobuf.TextFormat;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.memory.threads.Cores;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import gatun.wire.tensorflow.ConfigProto;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Options for all models, and a model's own parameters, by the names of Triton's TensorFlow backend. 0 threads of an
 * operation, and 0 operations at a time, mean one for each core. A model takes the graph with exactly {@code tags}.
 * {@code session} is the rest of sessions' options.
 */
record Settings(
        int intraOpThreads, int interOpThreads, int defaultMaxBatchSize, Set<String> tags, ConfigProto session) {
    static final String INTRA_OP = "intra_op_parallelism_threads";
    static final String INTER_OP = "inter_op_parallelism_threads";
    static final String MAX_BATCH_SIZE = "default-max-batch-size";
    static final String TAGS = "tags";
    static final String SESSION_FILE = "session-config-file";
    static final List<String> OPTIONS = List.of(INTRA_OP, INTER_OP, MAX_BATCH_SIZE, TAGS, SESSION_FILE);

    static final Settings DEFAULT = new Settings(0, 0, 4, Set.of("serve"), ConfigProto.getDefaultInstance());

    /** More threads than any machine has cores, and larger batches than anybody sends: the engine obeys. */
    private static final int MAX_COUNT = 4096;

    private static final String GRAPH_TAG = "TF_GRAPH_TAG";
    private static final String SIGNATURE = "TF_SIGNATURE_DEF";
    private static final String INTRA_OP_THREADS = "TF_NUM_INTRA_THREADS";
    private static final String INTER_OP_THREADS = "TF_NUM_INTER_THREADS";
    private static final String OWN_THREADS = "TF_USE_PER_SESSION_THREADS";

    /** A copy with option {@code key} set to {@code value}; this when the backend has no such option. */
    Settings with(String key, String value) {
        return switch (key) {
            case INTRA_OP -> new Settings(number(key, value), interOpThreads, defaultMaxBatchSize, tags, session);
            case INTER_OP -> new Settings(intraOpThreads, number(key, value), defaultMaxBatchSize, tags, session);
            case MAX_BATCH_SIZE -> new Settings(intraOpThreads, interOpThreads, number(key, value), tags, session);
            case TAGS -> new Settings(intraOpThreads, interOpThreads, defaultMaxBatchSize, tags(value), session);
            case SESSION_FILE ->
                new Settings(intraOpThreads, interOpThreads, defaultMaxBatchSize, tags, sessionFile(key, value));
            default -> this;
        };
    }

    private static ConfigProto sessionFile(String key, String path) {
        ConfigProto.Builder config = ConfigProto.newBuilder();
        try {
            TextFormat.merge(Files.readString(Path.of(path)), config);
            return config.build();
        } catch (TextFormat.ParseException e) {
            throw GatunException.invalidArgument("'" + key + "' is '" + path + "': Error parsing text-format "
                    + ConfigProto.getDescriptor().getFullName() + ": "
                    + String.valueOf(e.getMessage()).lines().collect(Collectors.joining(" ")));
        } catch (IOException e) {
            throw GatunException.invalidArgument(
                    "'" + key + "' is '" + path + "', which cannot be read: " + IoFailure.reason(e));
        }
    }

    /** Which of the file's graphs a model takes: the one with exactly these tags. */
    Set<String> tags(ModelConfig config) {
        String chosen = parameter(config, GRAPH_TAG);
        return chosen.isEmpty() ? tags : tags(chosen);
    }

    private static Set<String> tags(String list) {
        return Arrays.stream(list.split(",", -1)).map(String::strip).collect(Collectors.toUnmodifiableSet());
    }

    /** The signature that a configuration describes; empty for the usual one. */
    static String signature(ModelConfig config) {
        return parameter(config, SIGNATURE);
    }

    byte[] session(ModelConfig config) {
        int intraOp = intraOpThreads > 0 ? intraOpThreads : session.getIntraOpParallelismThreads();
        int interOp = interOpThreads > 0 ? interOpThreads : session.getInterOpParallelismThreads();
        return session.toBuilder()
                .setIntraOpParallelismThreads(threads(count(config, INTRA_OP_THREADS, intraOp)))
                .setInterOpParallelismThreads(threads(count(config, INTER_OP_THREADS, interOp)))
                .setUsePerSessionThreads(session.getUsePerSessionThreads() || isTrue(config, OWN_THREADS))
                .build()
                .toByteArray();
    }

    /** The number, or one for each core, where the engine would count the machine's. All models share a pool. */
    private static int threads(int asked) {
        return asked != 0 ? asked : Cores.physical();
    }

    private static String parameter(ModelConfig config, String name) {
        return config.containsParameters(name)
                ? config.getParametersOrThrow(name).getStringValue().strip()
                : "";
    }

    private static int count(ModelConfig config, String name, int otherwise) {
        String text = parameter(config, name);
        return text.isEmpty() ? otherwise : ConfigurationPath.ofParameter(name).locate(() -> number(name, text));
    }

    private static boolean isTrue(ModelConfig config, String name) {
        return switch (parameter(config, name).toLowerCase(Locale.ROOT)) {
            case "1", "true", "yes", "on" -> true;
            case "", "0", "false", "no", "off" -> false;
            default ->
                throw new ConfigurationException(
                        ConfigurationPath.ofParameter(name),
                        "parameter '" + name + "' is '" + parameter(config, name) + "'; expected true or false");
        };
    }

    private static int number(String name, String text) {
        try {
            int value = Integer.parseInt(text.strip());
            if (value > MAX_COUNT) {
                throw GatunException.invalidArgument("'" + name + "' is '" + text + "'; expected at most " + MAX_COUNT);
            }
            if (value >= 0) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Falls through to the one error for everything that is no count.
        }
        throw GatunException.invalidArgument("'" + name + "' is '" + text + "'; expected a number >= 0");
    }
}
