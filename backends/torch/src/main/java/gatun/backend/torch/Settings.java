// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.GatunException;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The operator's options for all models. The library is a file or folder, or empty for the installed one. */
record Settings(String library, int defaultMaxBatchSize) {
    /** The name of the engine: models give it as their platform. */
    static final String BACKEND = "torch_aoti";

    static final Settings DEFAULT = new Settings("", 4);

    /** Parameter of a model: how many threads an operation may use. In Triton, too, one for the process. */
    static final String THREADS = "INTRA_OP_THREAD_COUNT";

    private static final String INTER_OP_THREADS = "INTER_OP_THREAD_COUNT";

    /** Parameter of a model: whether requests are believed to have the shapes that the model takes. */
    static final String UNCHECKED_SHAPES = "UNCHECKED_SHAPES";

    static final String BATCH_SIZE = "default-max-batch-size";
    private static final Set<String> OPTIONS = Set.of(TorchLibrary.OPTION, BATCH_SIZE);

    /** More than any machine has cores, and larger batches than anybody sends. */
    private static final int MAX_COUNT = 4096;

    /** Reads options. Throws {@link GatunException} INVALID_ARGUMENT for an option that is unknown or wrong. */
    static Settings of(Map<String, String> options) {
        Set<String> unknown = new TreeSet<>(options.keySet());
        unknown.removeAll(OPTIONS);
        if (!unknown.isEmpty()) {
            throw GatunException.invalidArgument("backend " + BACKEND + " has no option '"
                    + String.join("', '", unknown) + "'; it has " + String.join(", ", new TreeSet<>(OPTIONS)));
        }
        String batchSize = options.get(BATCH_SIZE);
        return new Settings(
                options.getOrDefault(TorchLibrary.OPTION, ""),
                batchSize == null ? DEFAULT.defaultMaxBatchSize : number(BATCH_SIZE, batchSize));
    }

    /** Threads for an operation; 0 when not configured. Throws {@link ConfigurationException} for an invalid number. */
    static int threads(ModelConfig config) {
        count(config, INTER_OP_THREADS); // Such models have no operations that run side by side.
        return count(config, THREADS);
    }

    static boolean uncheckedShapes(ModelConfig config) {
        String text = parameter(config, UNCHECKED_SHAPES);
        return !text.isEmpty()
                && ConfigurationPath.ofParameter(UNCHECKED_SHAPES).locate(() -> isTrue(UNCHECKED_SHAPES, text));
    }

    private static String parameter(ModelConfig config, String name) {
        return config.containsParameters(name)
                ? config.getParametersOrThrow(name).getStringValue().strip()
                : "";
    }

    private static int count(ModelConfig config, String name) {
        String text = parameter(config, name);
        return text.isEmpty() ? 0 : ConfigurationPath.ofParameter(name).locate(() -> number(name, text));
    }

    private static boolean isTrue(String name, String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true", "1" -> true;
            case "false", "0" -> false;
            default -> throw GatunException.invalidArgument("'" + name + "' is '" + text + "'; expected true or false");
        };
    }

    private static int number(String name, String text) {
        try {
            int value = Integer.parseInt(text.strip());
            if (value >= 0 && value <= MAX_COUNT) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Falls through to the one error for everything that is no count.
        }
        throw GatunException.invalidArgument(
                "'" + name + "' is '" + text + "'; expected a number from 0 to " + MAX_COUNT);
    }
}
