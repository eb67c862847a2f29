// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.bindings.LibraryCache;
import gatun.runtime.ControlMode;
import gatun.runtime.ResourceAmount;
import gatun.runtime.server.ServerOptions;
import gatun.spi.Tuning.Subject;
import gatun.stores.location.RepositoryLocation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The models to serve and how to load them.
 *
 * @param sources the places where models come from
 * @param control which of them are loaded
 * @param loading how they are loaded
 * @param backends the options of backends, and the folder of more of them
 * @param runs how they are run
 * @param stores the models that are fetched first
 */
public record ModelSettings(
        Sources sources, Control control, Loading loading, Backends backends, Runs runs, StoreSettings stores) {
    /** The defaults; there is no repository yet. */
    public static final ModelSettings STANDARD = new ModelSettings(
            new Sources(List.of(), List.of(), Optional.empty(), "", true, false),
            new Control(ControlMode.NONE, ServerOptions.DEFAULT_POLL_INTERVAL, List.of(), true, true),
            new Loading(ServerOptions.DEFAULT_LOAD_THREADS, 0, Duration.ZERO, Duration.ZERO, 1, OptionalLong.empty()),
            new Backends(Map.of(), Optional.empty(), Set.of()),
            new Runs(Optional.empty(), EnumSet.allOf(Subject.class)),
            StoreSettings.STANDARD);

    /** The same with these repositories, and no other. */
    public ModelSettings withRepositories(List<Path> repositories) {
        return withSources(repositories, sources.list);
    }

    /** The same with these repositories and this list, and no other. */
    public ModelSettings withSources(List<Path> repositories, Optional<ModelListSettings> list) {
        return new ModelSettings(
                new Sources(
                        repositories,
                        sources.paths,
                        list,
                        sources.configName,
                        sources.autoComplete,
                        sources.namespacing),
                control,
                loading,
                backends,
                runs,
                stores);
    }

    /**
     * The places where models come from.
     *
     * @param repositories the folders that hold one folder per model; at least one unless models are named otherwise
     * @param paths more repositories, folders of single models, or loose models
     * @param list models that are served besides, by name; empty when there is no list
     * @param configName which configuration in a model's {@code configs} counts where it exists; empty for none
     * @param autoComplete whether a configuration is completed from the model's file
     * @param namespacing whether models of several repositories may have the same name
     */
    public record Sources(
            List<Path> repositories,
            List<Path> paths,
            Optional<ModelListSettings> list,
            String configName,
            boolean autoComplete,
            boolean namespacing) {
        /** Keeps copies of the lists. */
        public Sources {
            repositories = List.copyOf(repositories);
            paths = List.copyOf(paths);
        }
    }

    /**
     * The models that are loaded, and the consequences where one is not.
     *
     * @param mode who decides which models are loaded
     * @param pollInterval how long after one look at the repositories the next one comes, where that decides
     * @param loadModels the models to load at start where that is explicit; {@code *} stands for all
     * @param exitOnError whether one model that cannot be loaded, or a repository that is not there, keeps the server from
     *     starting
     * @param strictReadiness whether the server is ready only when all models are
     */
    public record Control(
            ControlMode mode,
            Duration pollInterval,
            List<String> loadModels,
            boolean exitOnError,
            boolean strictReadiness) {
        /** Keeps a copy of the names. */
        public Control {
            loadModels = List.copyOf(loadModels);
        }
    }

    /**
     * How models are loaded.
     *
     * @param threads how many models are loaded at a time
     * @param retries how often a load that fails is tried again before it counts as failed
     * @param retryInterval how long to wait before that
     * @param timeout how long the load of a version may take before it is ended; zero for as long as it likes
     * @param warmUpIterations how often each request in a model's file of warm-up requests is sent to it; 0 for never
     * @param memoryByteSize the memory that models may take together, each loaded by the first request that needs it;
     *     empty where all are loaded at start and stay
     */
    public record Loading(
            int threads,
            int retries,
            Duration retryInterval,
            Duration timeout,
            int warmUpIterations,
            OptionalLong memoryByteSize) {}

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
     * How models are run.
     *
     * @param rateLimit the amounts of resources, where instances run only while they have what they ask for
     * @param learned what may be learned of runs, so that those that follow are done in the way that was fastest
     */
    public record Runs(Optional<List<ResourceAmount>> rateLimit, Set<Subject> learned) {
        /** Keeps a copy of the subjects. */
        public Runs {
            learned = Set.copyOf(learned);
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
