// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static gatun.runtime.configuration.Rule.require;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Device;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelDynamicBatching;
import gatun.wire.inference.ModelInstanceGroup;
import gatun.wire.inference.ModelQueuePolicy;
import gatun.wire.inference.ModelQueuePolicy.TimeoutAction;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Checks how a configuration wants requests to be batched, queued and spread over instances. */
final class SchedulingRules {
    private static final ConfigurationPath BATCHING = ConfigurationPath.of("dynamic_batching");
    private static final String GROUP = "instance_group";
    private static final String KIND = "kind";

    private SchedulingRules() {}

    /** Checks batching, the response cache and each instance group. Throws ConfigurationException at a broken rule. */
    static void check(ModelConfig config, Consumer<Runnable> parts) {
        parts.accept(() -> require(
                config.getMaxBatchSize() >= 0,
                config,
                ConfigurationPath.of("max_batch_size"),
                "'max_batch_size' must be non-negative value",
                "write max_batch_size: 0 for a model that takes no batches"));
        switch (config.getSchedulingChoiceCase()) {
            case DYNAMIC_BATCHING -> parts.accept(() -> checkBatching(config, config.getDynamicBatching()));
            case SEQUENCE_BATCHING -> parts.accept(() -> SequenceRules.check(config));
            case ENSEMBLE_SCHEDULING, SCHEDULINGCHOICE_NOT_SET -> {}
        }
        parts.accept(() -> checkResponseCache(config));
        if (EnsembleRules.apply(config)) {
            return; // An ensemble has no instances; its own rules tell it.
        }
        for (int i = 0; i < config.getInstanceGroupCount(); i++) {
            int index = i;
            parts.accept(() -> checkGroup(config, index));
        }
    }

    private static void checkResponseCache(ModelConfig config) {
        boolean decoupled = config.getModelTransactionPolicy().getDecoupled();
        if (config.getResponseCache().getEnable() && (config.hasSequenceBatching() || decoupled)) {
            throw new ConfigurationException(
                    ConfigurationPath.of("response_cache"),
                    "Response Cache does not currently support model " + config.getName()
                            + " with "
                            + (config.hasSequenceBatching()
                                    ? "sequence batching scheduler"
                                    : "'decoupled' transaction policy")
                            + ". Please disable the response cache.");
        }
    }

    private static void checkBatching(ModelConfig config, ModelDynamicBatching batching) {
        checkPreferredSizes(config, BATCHING, "dynamic batching preferred size", batching.getPreferredBatchSizeList());
        long levels = batching.getPriorityLevels();
        if (levels != 0) {
            require(
                    inLevels(batching.getDefaultPriorityLevel(), levels),
                    config,
                    BATCHING.then("default_priority_level"),
                    "default priority level must be in range [1, " + Long.toUnsignedString(levels) + "]");
            for (long level : batching.getPriorityQueuePolicyMap().keySet()) {
                require(
                        inLevels(level, levels),
                        config,
                        BATCHING.then("priority_queue_policy", Long.toUnsignedString(level)),
                        "priority queue policy must have priority level in range [1, " + Long.toUnsignedString(levels)
                                + "]");
            }
        }
        if (batching.getPreserveOrdering()) {
            require(
                    Long.compareUnsigned(levels, 1) <= 0,
                    config,
                    BATCHING.then("preserve_ordering"),
                    "Only one priority level is allowed when 'preserve_ordering' is true");
            checkOrdered(config, BATCHING.then("default_queue_policy"), batching.getDefaultQueuePolicy());
            batching.getPriorityQueuePolicyMap()
                    .forEach((level, policy) -> checkOrdered(
                            config, BATCHING.then("priority_queue_policy", Long.toUnsignedString(level)), policy));
        }
    }

    static void checkPreferredSizes(
            ModelConfig config, ConfigurationPath scheduler, String subject, List<Integer> sizes) {
        ConfigurationPath path = scheduler.then("preferred_batch_size");
        for (int size : sizes) {
            require(size > 0, config, path, subject + " must be positive");
            require(
                    size <= config.getMaxBatchSize(),
                    config,
                    path,
                    subject + " must be <= max batch size",
                    "raise max_batch_size, or write a smaller preferred_batch_size");
        }
    }

    private static boolean inLevels(long level, long levels) {
        return level != 0 && Long.compareUnsigned(level, levels) <= 0;
    }

    private static void checkOrdered(ModelConfig config, ConfigurationPath path, ModelQueuePolicy policy) {
        require(
                policy.getTimeoutAction() != TimeoutAction.DELAY || policy.getDefaultTimeoutMicroseconds() == 0,
                config,
                path,
                "Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true");
    }

    private static void checkGroup(ModelConfig config, int index) {
        ModelInstanceGroup group = config.getInstanceGroup(index);
        ConfigurationPath path = ConfigurationPath.of(GROUP, index);
        String name = "instance group " + Defaults.groupName(group.getName(), index, config.getName()) + " of model "
                + config.getName();
        String subject = name + " has kind " + group.getKind();
        switch (group.getKind()) {
            case KIND_GPU -> checkGpus(group.getGpusList(), subject, path, UsableDevices.presentGpus());
            case KIND_CPU, KIND_MODEL -> {
                if (group.getGpusCount() > 0) {
                    throw new ConfigurationException(
                            path.then("gpus"),
                            subject + " but specifies one or more GPUs",
                            "leave gpus out, or write kind: KIND_GPU");
                }
            }
            case KIND_AUTO -> {}
            case UNRECOGNIZED ->
                throw new ConfigurationException(
                        path.then(KIND),
                        name + " has unknown kind " + group.getKindValue()
                                + "; known: KIND_AUTO, KIND_GPU, KIND_CPU, KIND_MODEL");
        }
    }

    private static void checkGpus(List<Integer> wanted, String subject, ConfigurationPath path, List<Integer> present) {
        if (present.isEmpty()) {
            throw new ConfigurationException(
                    path.then(KIND),
                    subject + " but server does not support GPUs",
                    "write kind: KIND_CPU, or KIND_AUTO for GPUs where there are any");
        }
        for (int gpu : wanted) {
            if (!present.contains(gpu)) {
                throw new ConfigurationException(
                        path.then("gpus"),
                        subject + " and specifies invalid or unsupported gpu id " + gpu + ". GPUs are: "
                                + present.stream().map(String::valueOf).collect(Collectors.joining(", ")));
            }
        }
    }

    /** Throws ConfigurationException for a group on a device that the backend does not run on; no KIND_AUTO is left. */
    static void checkDevices(ModelConfig config, UsableDevices devices) {
        for (ModelInstanceGroup group : config.getInstanceGroupList()) {
            boolean onGpu = group.getKind() == ModelInstanceGroup.Kind.KIND_GPU;
            Device.Kind kind = onGpu ? Device.Kind.GPU : Device.Kind.CPU;
            if (group.getKind() != ModelInstanceGroup.Kind.KIND_MODEL && !devices.runsOn(kind)) {
                String advice = devices.backend().get().advice(kind);
                throw new ConfigurationException(
                        ConfigurationPath.of(GROUP, group.getName()).then(KIND),
                        "instance group " + group.getName() + " of model "
                                + config.getName() + " has kind " + group.getKind() + ", but backend '"
                                + config.getBackend() + "' runs here on " + (onGpu ? "CPUs" : "GPUs") + " only"
                                + (advice.isEmpty() ? "" : ": " + advice));
            }
        }
    }
}
