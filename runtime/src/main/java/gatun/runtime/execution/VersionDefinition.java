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
 * The parts that a model version is made of.
 *
 * @param config its complete configuration
 * @param version its number
 * @param backend makes its instances; closed with the version
 * @param labels the lines of the label files, by output name
 * @param warmUps the requests that each instance answers before it serves
 * @param states the tensors that the model gives for one step of a sequence and gets for the next
 * @param rule how requests share runs where the configuration does not say it; empty for not at all
 * @param batchesUnasked whether the configuration has dynamic batching that nobody has written
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

    /**
     * The requests that each instance of a version answers before it serves.
     *
     * @param samples the requests that the configuration makes
     * @param source sends those that lie beside the model's files
     * @param directory where the version's files are
     */
    public record WarmUpPlan(List<WarmUpSample> samples, WarmUpSource source, Path directory) {
        /** Keeps a copy of the list. */
        public WarmUpPlan {
            samples = List.copyOf(samples);
        }
    }
}
