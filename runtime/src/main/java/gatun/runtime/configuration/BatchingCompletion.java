// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.runtime.BatchingRule;
import gatun.wire.inference.ModelConfig;
import java.util.concurrent.TimeUnit;

/** Writes into a configuration what a {@link BatchingRule} means for it. */
final class BatchingCompletion {
    private BatchingCompletion() {}

    /**
     * The configuration by which requests share runs. One without a batch dimension stays without: whether its requests
     * have a common first dimension is told by their tensors.
     *
     * @param written the configuration as its author wrote it; the batch size that it names stays
     * @param completed the same, completed by the engine
     */
    static ModelConfig apply(ModelConfig written, ModelConfig completed, BatchingRule rule) {
        ModelConfig.Builder ruled = completed.toBuilder();
        if (completed.getMaxBatchSize() > 0) {
            int size = written.getMaxBatchSize() > 0 ? written.getMaxBatchSize() : rule.maxBatchSize();
            ruled.setMaxBatchSize(size);
            ruled.getDynamicBatchingBuilder()
                    .clear()
                    .addPreferredBatchSize(Math.min(size, rule.maxRunSize()))
                    .setMaxQueueDelayMicroseconds(TimeUnit.NANOSECONDS.toMicros(rule.maxDelayNanos()));
        }
        if (completed.getInstanceGroupCount() == 0) {
            ruled.addInstanceGroupBuilder().setCount(rule.parallelRuns());
        }
        return ruled.build();
    }
}
