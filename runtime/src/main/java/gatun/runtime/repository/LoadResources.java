// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.buffers.BufferPool;
import gatun.runtime.BatchingRules;
import gatun.runtime.WarmUpSource;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.limits.LimitSettings.ModelLimits;
import gatun.wire.inference.ModelConfig;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The server's objects that loads of models work with.
 *
 * @param pool the memory for models' responses
 * @param limits the limits for a configuration
 * @param warmUps requests beside models' files that they answer before they serve
 * @param batching how requests share runs where the configuration does not say it
 * @param configurationRule checks complete configurations beyond the runtime's own rules
 * @param caching the cache of responses
 */
public record LoadResources(
        BufferPool pool,
        ModelLimits limits,
        WarmUpSource warmUps,
        BatchingRules batching,
        Consumer<ModelConfig> configurationRule,
        Caching caching) {
    /**
     * The cache of responses, as loads see it.
     *
     * @param cached puts the cache before a model that wants it
     * @param fingerprints whether versions are to tell, by a hash, what their responses depend on
     */
    public record Caching(UnaryOperator<ServedModel> cached, boolean fingerprints) {}
}
