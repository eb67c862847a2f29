// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.memory.tensor.GatunException;
import gatun.spi.Device;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import gatun.wire.inference.ModelInstanceGroup;
import gatun.wire.inference.ModelQueuePolicy;
import gatun.wire.inference.ModelQueuePolicy.TimeoutAction;
import java.util.List;
import java.util.stream.Collectors;

/** Checks how a configuration wants requests to be batched, queued and spread over instances. */
final class SchedulingRules {
    /** Each level takes memory, and is looked at for each batch; nobody needs more. */
    private static final long MAX_PRIORITY_LEVELS = 1000;

    private SchedulingRules() {}

    /**
     * @throws GatunException INVALID_ARGUMENT with the first rule that {@code config} breaks, UNSUPPORTED for what is
     *     not served
     */
    static void check(ModelConfig config) {
        require(config.getMaxBatchSize() >= 0, config, "'max_batch_size' must be non-negative value");
        switch (config.getSchedulingChoiceCase()) {
            case DYNAMIC_BATCHING -> checkBatching(config, config.getDynamicBatching());
            case SEQUENCE_BATCHING -> SequenceRules.check(config);
            case ENSEMBLE_SCHEDULING, SCHEDULINGCHOICE_NOT_SET -> {}
        }
        checkResponseCache(config);
        for (int i = 0; i < config.getInstanceGroupCount(); i++) {
            ModelInstanceGroup group = config.getInstanceGroup(i);
            checkGroup(config, group, Defaults.groupName(group.getName(), i, config.getName()));
        }
    }

    private static void checkResponseCache(ModelConfig config) {
        boolean decoupled = config.getModelTransactionPolicy().getDecoupled();
        if (config.getResponseCache().getEnable() && (config.hasSequenceBatching() || decoupled)) {
            throw GatunException.invalidArgument("Response Cache does not currently support model " + config.getName()
                    + " with "
                    + (config.hasSequenceBatching() ? "sequence batching scheduler" : "'decoupled' transaction policy")
                    + ". Please disable the response cache.");
        }
    }

    private static void checkBatching(ModelConfig config, ModelDynamicBatching batching) {
        for (int size : batching.getPreferredBatchSizeList()) {
            require(size > 0, config, "dynamic batching preferred size must be positive");
            require(
                    size <= config.getMaxBatchSize(),
                    config,
                    "dynamic batching preferred size must be <= max batch size");
        }
        long levels = batching.getPriorityLevels();
        require(
                Long.compareUnsigned(levels, MAX_PRIORITY_LEVELS) <= 0,
                config,
                "dynamic batching has " + Long.toUnsignedString(levels) + " priority levels, expected at most "
                        + MAX_PRIORITY_LEVELS);
        if (levels != 0) {
            require(
                    inLevels(batching.getDefaultPriorityLevel(), levels),
                    config,
                    "default priority level must be in range [1, " + Long.toUnsignedString(levels) + "]");
            for (long level : batching.getPriorityQueuePolicyMap().keySet()) {
                require(
                        inLevels(level, levels),
                        config,
                        "priority queue policy must have priority level in range [1, " + Long.toUnsignedString(levels)
                                + "]");
            }
        }
        if (batching.getPreserveOrdering()) {
            require(
                    Long.compareUnsigned(levels, 1) <= 0,
                    config,
                    "Only one priority level is allowed when 'preserve_ordering' is true");
            checkOrdered(config, batching.getDefaultQueuePolicy());
            batching.getPriorityQueuePolicyMap().values().forEach(policy -> checkOrdered(config, policy));
        }
    }

    private static boolean inLevels(long level, long levels) {
        return level != 0 && Long.compareUnsigned(level, levels) <= 0;
    }

    private static void checkOrdered(ModelConfig config, ModelQueuePolicy policy) {
        require(
                policy.getTimeoutAction() != TimeoutAction.DELAY || policy.getDefaultTimeoutMicroseconds() == 0,
                config,
                "Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true");
    }

    private static void checkGroup(ModelConfig config, ModelInstanceGroup group, String name) {
        String subject = "instance group " + name + " of model " + config.getName() + " has kind " + group.getKind();
        switch (group.getKind()) {
            case KIND_GPU -> checkGpus(group.getGpusList(), subject, UsableDevices.presentGpus());
            case KIND_CPU, KIND_MODEL -> {
                if (group.getGpusCount() > 0) {
                    throw GatunException.invalidArgument(subject + " but specifies one or more GPUs");
                }
            }
            case KIND_AUTO -> {}
            case UNRECOGNIZED ->
                throw GatunException.invalidArgument("instance group " + name + " of model "
                        + config.getName() + " has unknown kind " + group.getKindValue()
                        + "; known: KIND_AUTO, KIND_GPU, KIND_CPU, KIND_MODEL");
        }
    }

    private static void checkGpus(List<Integer> wanted, String subject, List<Integer> present) {
        if (present.isEmpty()) {
            throw GatunException.invalidArgument(subject + " but server does not support GPUs");
        }
        for (int gpu : wanted) {
            if (!present.contains(gpu)) {
                throw GatunException.invalidArgument(subject + " and specifies invalid or unsupported gpu id " + gpu
                        + ". GPUs are: " + present.stream().map(String::valueOf).collect(Collectors.joining(", ")));
            }
        }
    }

    /**
     * Checks that the backend runs on the devices that each group asks for; {@code config} has no KIND_AUTO any more.
     *
     * @throws GatunException INVALID_ARGUMENT with the first group that it does not run on
     */
    static void checkDevices(ModelConfig config, UsableDevices devices) {
        for (ModelInstanceGroup group : config.getInstanceGroupList()) {
            boolean onGpu = group.getKind() == ModelInstanceGroup.Kind.KIND_GPU;
            Device.Kind kind = onGpu ? Device.Kind.GPU : Device.Kind.CPU;
            if (group.getKind() != ModelInstanceGroup.Kind.KIND_MODEL && !devices.runsOn(kind)) {
                String advice = devices.backend().get().advice(kind);
                throw GatunException.invalidArgument("instance group " + group.getName() + " of model "
                        + config.getName() + " has kind " + group.getKind() + ", but backend '" + config.getBackend()
                        + "' runs here on " + (onGpu ? "CPUs" : "GPUs") + " only"
                        + (advice.isEmpty() ? "" : ": " + advice));
            }
        }
    }

    private static void require(boolean holds, ModelConfig config, String otherwise) {
        if (!holds) {
            throw GatunException.invalidArgument(otherwise + " for " + config.getName());
        }
    }
}
