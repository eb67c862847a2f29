// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.memory.tensor.GatunException;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * A model's parameters, by the names of Triton's FIL backend. Those that choose among ways to compute the same, such as
 * {@code storage_type}, have no effect. Empty means: format by the file's name, classifier as the library predicts,
 * threads by choice. With {@code probabilities} a classifier answers with them in place of the class; above {@code
 * threshold}, a model of two classes chooses the second.
 */
record Settings(
        Optional<ForestFormat> format,
        Optional<Boolean> classifier,
        boolean probabilities,
        float threshold,
        OptionalInt threads) {
    private static final String FORMAT = "model_type";

    /** Triton's name since 25.09; {@code output_class} before. */
    private static final String CLASSIFIER = "is_classifier";

    private static final String OLD_CLASSIFIER = "output_class";
    private static final String PROBABILITIES = "predict_proba";
    private static final String THRESHOLD = "threshold";
    private static final String THREADS = "cpu_nthread";

    /** What a load request may set: all of these, and Triton's that have no effect. */
    static final Set<String> REQUESTED = Set.of(
            FORMAT,
            CLASSIFIER,
            OLD_CLASSIFIER,
            PROBABILITIES,
            THRESHOLD,
            THREADS,
            "algo",
            "blocks_per_sm",
            "chunk_size",
            "layout",
            "storage_type",
            "threads_per_tree",
            "transfer_threshold",
            "use_experimental_optimizations");

    private static final float USUAL_THRESHOLD = 0.5f;

    /** More than any machine has cores for: a library makes as many as it is told. */
    private static final int MAX_THREADS = 1024;

    /** The settings of a configuration. Throws {@link ConfigurationException} for a value that means nothing. */
    static Settings of(ModelConfig config) {
        Optional<ForestFormat> format = text(config, FORMAT).map(type -> ForestFormat.ofType(type)
                .orElseThrow(() -> wrong(FORMAT, type, "one of " + ForestFormat.types())));
        return new Settings(
                format,
                flag(config, OLD_CLASSIFIER).or(() -> flag(config, CLASSIFIER)),
                flag(config, PROBABILITIES).orElse(false),
                text(config, THRESHOLD).map(Settings::threshold).orElse(USUAL_THRESHOLD),
                text(config, THREADS).map(Settings::threads).orElse(OptionalInt.empty()));
    }

    boolean choosesClass() {
        return classifier.orElse(false) && !probabilities;
    }

    /** Whether the file's own choice between a class and probabilities is to be passed over. */
    boolean needsProbabilities() {
        return classifier.isPresent() || probabilities;
    }

    private static Optional<String> text(ModelConfig config, String name) {
        return Optional.ofNullable(config.getParametersMap().get(name))
                .map(value -> value.getStringValue().strip())
                .filter(text -> !text.isEmpty());
    }

    private static Optional<Boolean> flag(ModelConfig config, String name) {
        return text(config, name).map(value -> switch (value) {
            case "true" -> true;
            case "false" -> false;
            default -> throw wrong(name, value, "true or false");
        });
    }

    private static float threshold(String text) {
        try {
            float value = Float.parseFloat(text);
            if (!Float.isNaN(value)) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Falls through to the one error for everything that is no number.
        }
        throw wrong(THRESHOLD, text, "a number, such as 0.5");
    }

    private static OptionalInt threads(String text) {
        try {
            int value = Integer.parseInt(text);
            if (value <= MAX_THREADS) {
                return value > 0 ? OptionalInt.of(value) : OptionalInt.empty();
            }
        } catch (NumberFormatException e) {
            // Falls through to the one error for everything that is no count.
        }
        throw wrong(THREADS, text, "a number up to " + MAX_THREADS + ", or -1 for a choice");
    }

    private static GatunException wrong(String name, String value, String expected) {
        return new ConfigurationException(
                ConfigurationPath.ofParameter(name),
                "parameter '" + name + "' is '" + value + "'; expected " + expected);
    }
}
