// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.bindings.LibraryCache;
import gatun.runtime.ModelSettings;
import gatun.runtime.ModelSettings.Control;
import gatun.runtime.ModelSettings.Loading;
import gatun.runtime.ModelSettings.Runs;
import gatun.stores.location.RepositoryLocation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The models to serve. {@code warmUpIterations} is how often each of a model's warm-up requests is sent; 0 for never.
 * {@code stores} has the models that are fetched first.
 */
public record ServedModelSettings(
        Sources sources,
        Control control,
        Loading loading,
        Runs runs,
        Backends backends,
        int warmUpIterations,
        StoreSettings stores) {
    /** The defaults; there is no repository yet. */
    public static final ServedModelSettings STANDARD = new ServedModelSettings(
            new Sources(List.of(), List.of(), Optional.empty()),
            ModelSettings.STANDARD.control(),
            ModelSettings.STANDARD.loading(),
            ModelSettings.STANDARD.runs(),
            new Backends(Map.of(), Optional.empty(), Set.of()),
            1,
            StoreSettings.STANDARD);

    /** The part that the runtime decides by. */
    public ModelSettings forRuntime() {
        return new ModelSettings(control, loading, runs);
    }

    /** The same with these repositories, and no other. */
    public ServedModelSettings withRepositories(List<Path> repositories) {
        return withSources(repositories, sources.list);
    }

    /** The same with these repositories and this list, and no other. */
    public ServedModelSettings withSources(List<Path> repositories, Optional<ModelListSettings> list) {
        return new ServedModelSettings(
                new Sources(repositories, sources.paths, list),
                control,
                loading,
                runs,
                backends,
                warmUpIterations,
                stores);
    }

    /**
     * The places where models come from.
     *
     * @param repositories the folders that hold one folder per model; at least one unless models are named otherwise
     * @param paths more repositories, folders of single models, or loose models
     * @param list models that are served besides, by name; empty when there is no list
     */
    public record Sources(List<Path> repositories, List<Path> paths, Optional<ModelListSettings> list) {
        /** Keeps copies of the lists. */
        public Sources {
            repositories = List.copyOf(repositories);
            paths = List.copyOf(paths);
        }
    }

    /**
     * The options of backends, and the folder of more of them.
     *
     * @param options the options of each backend: backend, then option, then value
     * @param directory the folder that holds more backends, if there is one
     * @param isolated those whose models run in processes of their own
     */
    public record Backends(Map<String, Map<String, String>> options, Optional<Path> directory, Set<String> isolated) {
        /** Keeps copies. */
        public Backends {
            options = Map.copyOf(options);
            isolated = Set.copyOf(isolated);
        }
    }

    /**
     * Models that are fetched before they are served.
     *
     * @param repositories where they are, one folder per model
     * @param cache the folder that keeps what was fetched
     * @param cacheByteSize the most bytes that it keeps
     * @param timeout for connections and responses, and in which some of a file has to come
     * @param connections how many files are fetched at a time
     */
    public record StoreSettings(
            List<RepositoryLocation> repositories, Path cache, long cacheByteSize, Duration timeout, int connections) {
        /** No repositories, and a cache of 64 GiB beside the user's other caches. */
        public static final StoreSettings STANDARD = new StoreSettings(
                List.of(), LibraryCache.ofUser().folder().resolve("stores"), 64L << 30, Duration.ofSeconds(30), 8);

        /** Keeps a copy of the list. */
        public StoreSettings {
            repositories = List.copyOf(repositories);
        }
    }
}
