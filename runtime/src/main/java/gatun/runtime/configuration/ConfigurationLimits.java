// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.limits.LimitSettings.ModelLimits;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Setting;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelEnsembling;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelInstanceGroup;
import gatun.wire.inference.ModelMetrics;
import gatun.wire.inference.ModelOutput;
import gatun.wire.inference.ModelRateLimiter;
import gatun.wire.inference.ModelSequenceBatching;
import gatun.wire.inference.ModelSequenceBatching.InitialState;
import gatun.wire.inference.ModelSequenceBatching.State;
import gatun.wire.inference.ModelWarmup;
import java.util.List;

/**
 * Checks the numbers of a configuration before anything is made of them: a client that may load models sends
 * configurations, and a count of nine digits takes ten bytes. Limits without a setting are far beyond what any model
 * needs.
 */
public final class ConfigurationLimits {
    /** A scheduler keeps a few bytes for each row that a batch may have. */
    private static final int MAX_BATCH_SIZE = 1 << 20;

    /** Each decision about a batch looks at all of them. */
    private static final int PREFERRED_SIZES = 1024;

    /** The places of sequences on all instances together; each is kept in an array. */
    private static final long SEQUENCE_SLOTS = 1 << 20;

    /** Longer than anybody waits for a batch, in microseconds: a day. */
    private static final long QUEUE_DELAY_MICROS = 86_400_000_000L;

    private static final int TENSORS = 16_384;
    private static final int DIMS = 255;
    private static final int STATES = 1024;
    private static final int CONTROLS = 64;
    private static final int STEPS = 1024;
    private static final int RESOURCES = 256;
    private static final int METRIC_BUCKETS = 1024;
    private static final int WARM_UP_SAMPLES = 1024;
    private static final long WARM_UP_REQUESTS = 1 << 16;
    private static final long WARM_UP_RUNS = 100_000;

    private final ModelConfig config;
    private final ModelLimits limits;
    private ConfigurationPath path = ConfigurationPath.MODEL;

    private ConfigurationLimits(ModelConfig config, ModelLimits limits) {
        this.config = config;
        this.limits = limits;
    }

    /**
     * Checks a configuration, as it was written or completed. Throws {@link ConfigurationException} for a number beyond
     * a fixed limit, RESOURCE_EXHAUSTED for one beyond a setting, which it names.
     */
    public static void check(ModelConfig config, ModelLimits limits) {
        ConfigurationLimits check = new ConfigurationLimits(config, limits);
        check.in("max_batch_size").require("max_batch_size", config.getMaxBatchSize(), MAX_BATCH_SIZE);
        check.in("dynamic_batching").checkBatching();
        long instances = check.in("instance_group").checkInstances();
        check.in("sequence_batching").checkSequences(instances);
        check.checkTensors();
        check.in("model_warmup").checkWarmUp();
        check.in("ensemble_scheduling").checkSteps();
        check.in("model_metrics").checkMetrics();
    }

    private ConfigurationLimits in(String field) {
        path = ConfigurationPath.of(field);
        return this;
    }

    private void checkSteps() {
        require("ensemble_scheduling.step", config.getEnsembleScheduling().getStepCount(), STEPS);
        for (ModelEnsembling.Step step : config.getEnsembleScheduling().getStepList()) {
            require("ensemble_scheduling.step.input_map", step.getInputMapCount(), TENSORS);
            require("ensemble_scheduling.step.output_map", step.getOutputMapCount(), TENSORS);
        }
    }

    private void checkMetrics() {
        require("model_metrics.metric_control", config.getModelMetrics().getMetricControlCount(), METRIC_BUCKETS);
        for (ModelMetrics.MetricControl control : config.getModelMetrics().getMetricControlList()) {
            require("buckets", control.getHistogramOptions().getBucketsCount(), METRIC_BUCKETS);
        }
    }

    private void checkBatching() {
        require(
                "dynamic_batching.preferred_batch_size",
                config.getDynamicBatching().getPreferredBatchSizeCount(),
                PREFERRED_SIZES);
        requireDelay("dynamic_batching", config.getDynamicBatching().getMaxQueueDelayMicroseconds());
    }

    private void requireDelay(String where, long micros) {
        requireUnsigned(where + ".max_queue_delay_microseconds", micros, QUEUE_DELAY_MICROS);
    }

    /** How many instances there will be, as far as it can be told; at least one. */
    private long checkInstances() {
        long sum = 0;
        for (ModelInstanceGroup group : config.getInstanceGroupList()) {
            sum += Math.max(1L, group.getCount()) * Math.max(1, group.getGpusCount());
            require("rate_limiter.resources", group.getRateLimiter().getResourcesCount(), RESOURCES);
            for (ModelRateLimiter.Resource resource : group.getRateLimiter().getResourcesList()) {
                requireUnsigned(
                        "the count of resource '" + resource.getName() + "'",
                        Integer.toUnsignedLong(resource.getCount()),
                        Integer.MAX_VALUE);
            }
        }
        if (sum > limits.instances()) {
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "the instance groups of model '" + config.getName() + "' ask for " + sum
                            + " instances, more than the limit of " + limits.instances()
                            + "; the server's " + Setting.LIMIT_INSTANCES + " sets it");
        }
        return Math.max(1, sum);
    }

    private void checkSequences(long instances) {
        ModelSequenceBatching batching = config.getSequenceBatching();
        require("sequence_batching.control_input", batching.getControlInputCount(), CONTROLS);
        require("sequence_batching.state", batching.getStateCount(), STATES);
        for (State state : batching.getStateList()) {
            require("the rank of state '" + state.getInputName() + "'", state.getDimsCount(), DIMS);
            for (InitialState initial : state.getInitialStateList()) {
                require("the rank of state '" + state.getInputName() + "'", initial.getDimsCount(), DIMS);
            }
        }
        ModelSequenceBatching.StrategyOldest oldest = batching.getOldest();
        require("sequence_batching.oldest.preferred_batch_size", oldest.getPreferredBatchSizeCount(), PREFERRED_SIZES);
        requireDelay("sequence_batching.oldest", oldest.getMaxQueueDelayMicroseconds());
        requireDelay("sequence_batching.direct", batching.getDirect().getMaxQueueDelayMicroseconds());
        requireUnsigned(
                "sequence_batching.max_sequence_idle_microseconds",
                batching.getMaxSequenceIdleMicroseconds(),
                Long.MAX_VALUE);
        if (config.hasSequenceBatching()) {
            boolean named = batching.hasOldest() && oldest.getMaxCandidateSequences() > 0;
            long slots = named ? oldest.getMaxCandidateSequences() : Math.max(1, config.getMaxBatchSize());
            require(
                    "the number of sequences at a time, " + (named ? "max_candidate_sequences" : "max_batch_size")
                            + " for each of " + instances + " instances,",
                    slots * instances,
                    SEQUENCE_SLOTS);
        }
    }

    private void checkTensors() {
        in("input").require("input", config.getInputCount(), TENSORS);
        for (ModelInput input : config.getInputList()) {
            requireRank(
                    "input",
                    input.getName(),
                    input.getDimsList(),
                    input.getReshape().getShapeCount());
        }
        in("output").require("output", config.getOutputCount(), TENSORS);
        for (ModelOutput output : config.getOutputList()) {
            requireRank(
                    "output",
                    output.getName(),
                    output.getDimsList(),
                    output.getReshape().getShapeCount());
        }
        in("batch_input").require("batch_input", config.getBatchInputCount(), TENSORS);
        in("batch_output").require("batch_output", config.getBatchOutputCount(), TENSORS);
    }

    private void requireRank(String what, String name, List<Long> dims, int reshaped) {
        require("the rank of " + what + " '" + name + "'", Math.max(dims.size(), reshaped), DIMS);
    }

    private void checkWarmUp() {
        require("model_warmup", config.getModelWarmupCount(), WARM_UP_SAMPLES);
        long requests = 0;
        long runs = 0;
        for (ModelWarmup sample : config.getModelWarmupList()) {
            long batch = Integer.toUnsignedLong(sample.getBatchSize());
            requests += batch;
            runs += batch == 0 ? 0 : Math.max(1, Integer.toUnsignedLong(sample.getCount()));
            require("the inputs of warm-up sample '" + sample.getName() + "'", sample.getInputsCount(), TENSORS);
            for (ModelWarmup.Input input : sample.getInputsMap().values()) {
                require("the rank of an input of '" + sample.getName() + "'", input.getDimsCount(), DIMS);
            }
        }
        require("the batch_size of all warm-up samples together", requests, WARM_UP_REQUESTS);
        require("the count of all warm-up samples together", runs, WARM_UP_RUNS);
    }

    private void requireUnsigned(String what, long value, long limit) {
        if (Long.compareUnsigned(value, limit) > 0) {
            throw exceeded(what, Long.toUnsignedString(value), limit);
        }
    }

    private void require(String what, long value, long limit) {
        if (value > limit) {
            throw exceeded(what, Long.toString(value), limit);
        }
    }

    private ConfigurationException exceeded(String what, String value, long limit) {
        return new ConfigurationException(
                path, what + " of model '" + config.getName() + "' is " + value + ", expected at most " + limit);
    }
}
