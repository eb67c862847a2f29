// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.runtime.ControlMode;
import gatun.runtime.ResourceAmount;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What to serve and how to load it.
 *
 * @param repositories the folders that hold one folder per model; at least one unless models are listed
 * @param list models that are served besides, by name; empty when there is no list
 * @param batching how requests share runs where configurations do not say it; empty for not at all
 * @param controlMode who decides which models are loaded
 * @param pollInterval how long after one look at the repositories the next one comes, where that decides
 * @param loadModels the models to load at start where that is explicit; {@code *} stands for all
 * @param exitOnError whether one model that cannot be loaded keeps the server from starting
 * @param strictReadiness whether the server is ready only when all models are
 * @param autoComplete whether a configuration is completed from the model's file
 * @param configName which configuration in a model's {@code configs} counts where it exists; empty for none
 * @param loadThreads how many models are loaded at a time
 * @param loadRetries how often a load that fails is tried again before it counts as failed
 * @param loadRetryInterval how long to wait before that
 * @param warmUpIterations how often each request in a model's file of warm-up requests is sent to it; 0 for never
 * @param backendOptions the options of each backend: backend, then option, then value
 * @param backendDirectory the folder that holds more backends, if there is one
 * @param rateLimit the amounts of resources, where instances run only while they have what they ask for
 */
public record ModelSettings(
        List<Path> repositories,
        Optional<ModelListSettings> list,
        Optional<BatchingSettings> batching,
        ControlMode controlMode,
        Duration pollInterval,
        List<String> loadModels,
        boolean exitOnError,
        boolean strictReadiness,
        boolean autoComplete,
        String configName,
        int loadThreads,
        int loadRetries,
        Duration loadRetryInterval,
        int warmUpIterations,
        Map<String, Map<String, String>> backendOptions,
        Optional<Path> backendDirectory,
        Optional<List<ResourceAmount>> rateLimit) {
    /** Checks that nothing is missing and keeps copies. */
    public ModelSettings {
        repositories = List.copyOf(repositories);
        Objects.requireNonNull(list, "list");
        Objects.requireNonNull(batching, "batching");
        Objects.requireNonNull(controlMode, "controlMode");
        Objects.requireNonNull(pollInterval, "pollInterval");
        Objects.requireNonNull(configName, "configName");
        Objects.requireNonNull(loadRetryInterval, "loadRetryInterval");
        loadModels = List.copyOf(loadModels);
        backendOptions = Map.copyOf(backendOptions);
    }
}
