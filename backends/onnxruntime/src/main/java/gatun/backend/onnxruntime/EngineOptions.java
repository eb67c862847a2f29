// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tensor.GatunException;
import gatun.spi.Backend.Option;
import gatun.spi.Setting;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * This backend's options. Empty: {@code library} for the server's own, {@code sharesThreads} for a choice,
 * {@code modelCache} for no folder that keeps optimised graphs.
 */
record EngineOptions(
        Optional<String> library, int defaultMaxBatchSize, Optional<Boolean> sharesThreads, Optional<Path> modelCache) {
    static final String BACKEND = "onnxruntime";
    private static final String LIBRARY = "library";
    private static final String MAX_BATCH_SIZE = "default-max-batch-size";
    private static final String GLOBAL_THREADS = "enable-global-threadpool";
    private static final String MODEL_CACHE = "model-cache-dir";

    static final List<Option> OPTIONS = List.of(
            new Option(LIBRARY, "Another file of ONNX Runtime than the one that comes along."),
            new Option(MAX_BATCH_SIZE, "The largest batch of a model that can batch and does not say it.", true),
            new Option(GLOBAL_THREADS, "1: all models run on the threads of one pool; 0: each on its own."),
            new Option(MODEL_CACHE, "A folder that keeps models as ONNX Runtime has optimised them."));

    static final List<String> NAMES = OPTIONS.stream().map(Option::name).toList();

    /** The batch size in Triton's backend for a model that can batch when no size is configured. */
    private static final String TRITON_DEFAULT_MAX_BATCH_SIZE = "4";

    /** Reads a command line's options; ignores unknown ones. Throws GatunException INVALID_ARGUMENT for a bad value. */
    static EngineOptions of(Map<String, String> options) {
        return new EngineOptions(
                text(options, LIBRARY),
                batchSize(options.getOrDefault(MAX_BATCH_SIZE, TRITON_DEFAULT_MAX_BATCH_SIZE)),
                flag(options, GLOBAL_THREADS),
                text(options, MODEL_CACHE).map(Path::of));
    }

    static String library(String path) {
        return Setting.backendOption(BACKEND, LIBRARY, path);
    }

    private static Optional<String> text(Map<String, String> options, String name) {
        return Optional.ofNullable(options.get(name)).map(String::strip).filter(text -> !text.isEmpty());
    }

    private static Optional<Boolean> flag(Map<String, String> options, String name) {
        return text(options, name).map(text -> switch (text) {
            case "1", "true" -> true;
            case "0", "false" -> false;
            default -> throw refused(name, text, "0 or 1");
        });
    }

    private static int batchSize(String text) {
        try {
            int size = Integer.parseInt(text.strip());
            if (size >= 0) {
                return size;
            }
        } catch (NumberFormatException e) {
            // Falls through to the one error for everything that is no size.
        }
        throw refused(MAX_BATCH_SIZE, text, "a number >= 0");
    }

    private static GatunException refused(String name, String text, String expected) {
        return GatunException.invalidArgument(Setting.backendOption(BACKEND, name, text) + ": expected " + expected);
    }
}
