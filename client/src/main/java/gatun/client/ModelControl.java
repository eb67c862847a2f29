// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelStatistics;
import java.util.List;
import java.util.Map;

/**
 * The models of a server: their metadata, their statistics, and which are loaded. A version of the empty string stands
 * for the server's choice. Safe for any thread; each call fails with a {@link ClientException}.
 */
public interface ModelControl {
    /** Whether a model can answer now; false also when the server does not know it. */
    boolean ready(String model, String version);

    /** Names, versions and tensors of a model. */
    ModelMetadata metadata(String model, String version);

    /** The highest version's. */
    default ModelMetadata metadata(String model) {
        return metadata(model, "");
    }

    /** The configuration as the server completed it. */
    ModelConfig config(String model, String version);

    /** Counters of one model; of all with an empty name. */
    List<ModelStatistics> statistics(String model, String version);

    /**
     * The models of the server's repositories.
     *
     * @param onlyReady whether to leave out models that are not ready
     */
    List<RepositoryModel> index(boolean onlyReady);

    /** Loads a model, or loads it anew, and waits until it is ready. */
    default void load(String model) {
        load(model, "", Map.of());
    }

    /**
     * Loads a model with other files than the repository's.
     *
     * @param config a configuration as JSON in place of its own; empty for its own
     * @param files contents by their path, such as {@code 1/model.onnx}; then a configuration has to be given
     */
    void load(String model, String config, Map<String, byte[]> files);

    /**
     * Unloads a model.
     *
     * @param dependents whether also the models that were loaded because of it
     */
    void unload(String model, boolean dependents);

    /** Unloads a model, and nothing else. */
    default void unload(String model) {
        unload(model, false);
    }
}
