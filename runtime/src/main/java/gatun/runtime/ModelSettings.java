// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.spi.Tuning.Subject;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** What an operator decides about all models: which are loaded, how that is done, and how they are run. */
public record ModelSettings(Control control, Loading loading, Runs runs) {
    /** The defaults. */
    public static final ModelSettings STANDARD = new ModelSettings(
            new Control(ControlMode.NONE, Duration.ofSeconds(15), Optional.empty(), true, true, true),
            new Loading("", true, false, 4, 0, Duration.ZERO, Duration.ZERO, OptionalLong.empty()),
            new Runs(Optional.empty(), EnumSet.allOf(Subject.class), 4096, false));

    /** The same with another choice of models. */
    public ModelSettings with(Control other) {
        return new ModelSettings(other, loading, runs);
    }

    /** The same, loaded otherwise. */
    public ModelSettings with(Loading other) {
        return new ModelSettings(control, other, runs);
    }

    /** The same, run otherwise. */
    public ModelSettings with(Runs other) {
        return new ModelSettings(control, loading, other);
    }

    /** The same, with clients' memory touched in place always, or only where clients' changes do no harm. */
    public ModelSettings trustingClients(boolean enabled) {
        return with(new Runs(runs.rateLimit, runs.learned, runs.queueLimit, enabled));
    }

    /** The same, with a log of failures only. */
    public ModelSettings withoutLog() {
        Control old = control;
        return with(
                new Control(old.mode, old.pollInterval, old.loadModels, old.exitOnError, old.strictReadiness, false));
    }

    /**
     * The models that are loaded, and the consequences where one is not.
     *
     * @param mode who decides which models are loaded
     * @param pollInterval the time between two looks at the repositories, where changes there decide
     * @param loadModels the only models to load at start; empty for all
     * @param exitOnError whether a model that cannot be loaded, or a repository that cannot be read, ends the start
     * @param strictReadiness whether the server is ready only when all models are
     * @param logged whether the log tells which versions come and go; it tells failures in any case
     */
    public record Control(
            ControlMode mode,
            Duration pollInterval,
            Optional<List<String>> loadModels,
            boolean exitOnError,
            boolean strictReadiness,
            boolean logged) {}

    /**
     * How models are configured and loaded.
     *
     * @param configName which configuration in a model's {@code configs} counts where it exists; empty for none
     * @param autoComplete whether a configuration is completed from the model's file
     * @param namespacing whether models of several repositories may have the same name
     * @param threads how many models are loaded at a time
     * @param retries how often a load that fails is tried again before it counts as failed
     * @param retryInterval how long to wait before that
     * @param timeout how long the load of a version may take before it is ended; zero for no limit
     * @param memoryByteSize the memory that models may take together, each loaded by the first request that needs it;
     *     empty where all are loaded at start and stay
     */
    public record Loading(
            String configName,
            boolean autoComplete,
            boolean namespacing,
            int threads,
            int retries,
            Duration retryInterval,
            Duration timeout,
            OptionalLong memoryByteSize) {
        /** Loads one model at a time at least. */
        public Loading {
            threads = Math.max(1, threads);
            retries = Math.max(0, retries);
        }

        /** The same, where configurations are found and completed otherwise. */
        public Loading withConfigurations(String configName, boolean autoComplete, boolean namespacing) {
            return new Loading(
                    configName, autoComplete, namespacing, threads, retries, retryInterval, timeout, memoryByteSize);
        }
    }

    /**
     * How models are run.
     *
     * @param rateLimit the amounts of resources, if instances wait for theirs
     * @param learned what is learned of runs
     * @param queueLimit how many requests may wait for a model whose configuration sets no limit; at least 1
     * @param trustsClients whether runs touch clients' memory in place whatever the backend says
     */
    public record Runs(
            Optional<List<ResourceAmount>> rateLimit, Set<Subject> learned, int queueLimit, boolean trustsClients) {
        /** Keeps a copy of the subjects. */
        public Runs {
            learned = Set.copyOf(learned);
            queueLimit = Math.max(1, queueLimit);
        }
    }
}
