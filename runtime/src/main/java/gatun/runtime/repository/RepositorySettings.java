// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.BatchingRules;
import gatun.runtime.ControlMode;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ServedPath.SingleModel;
import gatun.runtime.WarmUpSource;
import gatun.runtime.limits.LimitSettings.ModelLimits;
import gatun.runtime.ratelimit.RateLimiter;
import gatun.spi.Tuning.Subject;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Where models are and how they are loaded and run.
 *
 * @param controlMode who decides which are loaded
 * @param limits the limits for a configuration
 * @param logged whether the log tells which versions come and go; it tells failures in any case
 */
public record RepositorySettings(
        ControlMode controlMode,
        Sources sources,
        Loading loading,
        Scheduling scheduling,
        ModelLimits limits,
        boolean logged) {
    /**
     * Where models are.
     *
     * @param repositories the directories that hold models
     * @param models models outside of these, named by their paths
     * @param listed models that are served besides, from directories of any name
     * @param reloadFolders folders in which clients may list models, beside those where the listed ones are
     * @param configName which configuration in a model's {@code configs} counts where it exists; empty for none
     * @param autoComplete whether configurations are completed from the model's files
     * @param namespacing whether models of several repositories may have the same name
     * @param readableAtStart whether opening fails when a directory cannot be read
     */
    public record Sources(
            List<Path> repositories,
            List<SingleModel> models,
            List<ListedModel> listed,
            List<Path> reloadFolders,
            String configName,
            boolean autoComplete,
            boolean namespacing,
            boolean readableAtStart) {
        /** Keeps copies of the lists. */
        public Sources {
            repositories = List.copyOf(repositories);
            models = List.copyOf(models);
            listed = List.copyOf(listed);
            reloadFolders = List.copyOf(reloadFolders);
        }
    }

    /**
     * How models are loaded.
     *
     * @param threads how many at a time
     * @param retries how often a load that fails is tried again before it counts as failed
     * @param retryInterval how long to wait before that
     * @param timeout how long the load of a version may take before it is ended; zero for as long as it likes
     * @param warmUps requests beside models' files that they answer before they serve
     * @param configurationRule checks complete configurations beyond the runtime's own rules
     * @param fingerprints whether versions are to tell, by a hash, what their responses depend on
     * @param memoryByteSize the memory that models may take together, each loaded by the request that needs it; empty
     *     where all are loaded and stay
     */
    public record Loading(
            int threads,
            int retries,
            Duration retryInterval,
            Duration timeout,
            WarmUpSource warmUps,
            Consumer<ModelConfig> configurationRule,
            boolean fingerprints,
            OptionalLong memoryByteSize) {}

    /**
     * How requests wait, share runs and are run.
     *
     * @param queueLimit how many may wait for a model whose configuration sets no limit
     * @param batching how they share runs where the configuration does not say it
     * @param rateLimiter says when instances may run
     * @param trustsClients whether runs touch clients' memory in place whatever the backend says
     * @param learned what may be learned of runs
     */
    public record Scheduling(
            int queueLimit,
            BatchingRules batching,
            RateLimiter rateLimiter,
            boolean trustsClients,
            Set<Subject> learned) {}
}
