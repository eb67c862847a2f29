// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.runtime.BatchingRules;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelSettings;
import gatun.runtime.ServedPath.SingleModel;
import gatun.runtime.WarmUpSource;
import gatun.runtime.limits.LimitSettings.ModelLimits;
import gatun.runtime.ratelimit.RateLimiter;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a repository is opened with.
 *
 * @param models what the operator decided about all models
 * @param warmUps requests beside models' files that they answer before they serve
 * @param configurationRule checks complete configurations beyond the runtime's own rules
 * @param fingerprints whether versions are to tell, by a hash, what their responses depend on
 * @param limits the limits for a configuration
 * @param logged whether the log tells which versions come and go; it tells failures in any case
 */
public record RepositorySettings(
        ModelSettings models,
        Sources sources,
        WarmUpSource warmUps,
        Consumer<ModelConfig> configurationRule,
        boolean fingerprints,
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
     */
    public record Sources(
            List<Path> repositories, List<SingleModel> models, List<ListedModel> listed, List<Path> reloadFolders) {
        /** Keeps copies of the lists. */
        public Sources {
            repositories = List.copyOf(repositories);
            models = List.copyOf(models);
            listed = List.copyOf(listed);
            reloadFolders = List.copyOf(reloadFolders);
        }
    }

    /**
     * How requests wait, share runs and are run.
     *
     * @param queueLimit how many may wait for a model whose configuration sets no limit
     * @param batching how they share runs where the configuration does not say it
     * @param rateLimiter says when instances may run
     * @param trustsClients whether runs touch clients' memory in place whatever the backend says
     */
    public record Scheduling(int queueLimit, BatchingRules batching, RateLimiter rateLimiter, boolean trustsClients) {}
}
