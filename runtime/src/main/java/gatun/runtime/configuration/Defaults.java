// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;
import gatun.wire.inference.ModelOptimizationPolicy;
import gatun.wire.inference.ModelSequenceBatching;
import gatun.wire.inference.ModelVersionPolicy;

/** Fills in the default values of a configuration. */
final class Defaults {
    private Defaults() {}

    /** {@code config} with every default filled in; it names its backend already. */
    static ModelConfig fill(ModelConfig config, UsableDevices devices, int instancesOnCpu) {
        ModelConfig.Builder filled = config.toBuilder();
        fillVersionPolicy(filled);
        if (filled.hasDynamicBatching()
                && filled.getDynamicBatching().getPreferredBatchSizeCount() == 0
                && filled.getMaxBatchSize() > 0) {
            filled.getDynamicBatchingBuilder().addPreferredBatchSize(filled.getMaxBatchSize());
        }
        if (filled.hasSequenceBatching()) {
            fillSequences(filled.getSequenceBatchingBuilder(), filled.getMaxBatchSize());
        }
        fillOptimization(filled.getOptimizationBuilder());
        if (filled.getInstanceGroupCount() == 0) {
            filled.addInstanceGroupBuilder().setName(filled.getName());
        }
        for (int i = 0; i < filled.getInstanceGroupCount(); i++) {
            fillGroup(filled.getInstanceGroupBuilder(i), i, filled.getName(), devices, instancesOnCpu);
        }
        return filled.build();
    }

    /** {@code config}, which is an ensemble's, with every default filled in: it has no instances of its own. */
    static ModelConfig fillEnsemble(ModelConfig config) {
        ModelConfig.Builder filled = config.toBuilder();
        fillVersionPolicy(filled);
        return filled.build();
    }

    private static void fillVersionPolicy(ModelConfig.Builder config) {
        if (config.getVersionPolicy().getPolicyChoiceCase()
                == ModelVersionPolicy.PolicyChoiceCase.POLICYCHOICE_NOT_SET) {
            config.getVersionPolicyBuilder().getLatestBuilder().setNumVersions(1);
        }
    }

    private static void fillSequences(ModelSequenceBatching.Builder batching, int maxBatchSize) {
        if (batching.getMaxSequenceIdleMicroseconds() == 0) {
            batching.setMaxSequenceIdleMicroseconds(ModelConfiguration.DEFAULT_IDLE_MICROS);
        }
        if (batching.hasOldest() && batching.getOldest().getPreferredBatchSizeCount() == 0 && maxBatchSize > 0) {
            batching.getOldestBuilder().addPreferredBatchSize(maxBatchSize);
        }
    }

    private static void fillOptimization(ModelOptimizationPolicy.Builder optimization) {
        if (!optimization.hasInputPinnedMemory()) {
            optimization.getInputPinnedMemoryBuilder().setEnable(true);
        }
        if (!optimization.hasOutputPinnedMemory()) {
            optimization.getOutputPinnedMemoryBuilder().setEnable(true);
        }
    }

    static String groupName(String given, int index, String model) {
        return given.isEmpty() ? model + "_" + index : given;
    }

    private static void fillGroup(
            ModelInstanceGroup.Builder group, int index, String model, UsableDevices devices, int instancesOnCpu) {
        group.setName(groupName(group.getName(), index, model));
        if (group.getKind() == ModelInstanceGroup.Kind.KIND_AUTO) {
            if (devices.hasGpus(group.getGpusList())) {
                group.setKind(ModelInstanceGroup.Kind.KIND_GPU);
            } else {
                group.setKind(ModelInstanceGroup.Kind.KIND_CPU).clearGpus();
            }
        }
        if (group.getKind() == ModelInstanceGroup.Kind.KIND_GPU && group.getGpusCount() == 0) {
            group.addAllGpus(devices.allGpus());
        }
        if (group.getCount() < 1) {
            group.setCount(group.getKind() == ModelInstanceGroup.Kind.KIND_CPU ? instancesOnCpu : 1);
        }
    }
}
