// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.BatchingRule;
import gatun.runtime.WarmUpSource;
import gatun.runtime.configuration.StateTensor;
import gatun.runtime.configuration.WarmUpSample;
import gatun.spi.BackendModel;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The parts of a model version. Its {@code backend} is closed with it; {@code labels} are lines of label files by
 * output name; {@code states} go from one step of a sequence to the next; {@code rule} is how requests share runs where
 * the configuration does not say it, empty for not at all; {@code batchesUnasked}: nobody has written its dynamic
 * batching.
 */
public record VersionDefinition(
        ModelConfig config,
        long version,
        BackendModel backend,
        Map<String, List<String>> labels,
        WarmUpPlan warmUps,
        List<StateTensor> states,
        Optional<BatchingRule> rule,
        boolean batchesUnasked) {
    /** Keeps copies of map and list. */
    public VersionDefinition {
        labels = Map.copyOf(labels);
        states = List.copyOf(states);
    }

    /** The rule in force: a configured batch size limits requests more; split responses share no runs. */
    Optional<BatchingRule> ruleInForce() {
        if (config.getModelTransactionPolicy().getDecoupled()) {
            return Optional.empty();
        }
        int size = config.getMaxBatchSize();
        return rule.map(
                present -> size > 0 && size < present.maxBatchSize() ? present.withMaxBatchSize(size) : present);
    }

    /** The warm-up requests of each instance: of the configuration, and by {@code source} of the version's files. */
    public record WarmUpPlan(List<WarmUpSample> samples, WarmUpSource source, Path directory) {
        /** Keeps a copy of the list. */
        public WarmUpPlan {
            samples = List.copyOf(samples);
        }
    }
}
