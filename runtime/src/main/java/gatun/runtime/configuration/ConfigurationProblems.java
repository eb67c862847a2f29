// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Every rule that a configuration breaks, where loading a model stops at the first. Each part is checked as if it were
 * the only one.
 */
public final class ConfigurationProblems {
    private final Set<String> texts = new LinkedHashSet<>();

    private ConfigurationProblems() {}

    /** The problems of {@code written}, in the words that a load fails with; empty when no rule is broken. */
    public static List<String> of(ModelConfig written) {
        ConfigurationProblems problems = new ConfigurationProblems();
        problems.collect(() ->
                SchedulingRules.check(written.toBuilder().clearInstanceGroup().build()));
        problems.groups(written);
        problems.tensors(written);
        problems.collect(() -> {
            if (EnsembleRules.apply(written)) {
                EnsembleRules.check(written);
            }
        });
        return List.copyOf(problems.texts);
    }

    private void groups(ModelConfig written) {
        ModelConfig bare = ModelConfig.newBuilder().setName(written.getName()).build();
        for (int i = 0; i < written.getInstanceGroupCount(); i++) {
            ModelInstanceGroup group = written.getInstanceGroup(i);
            String name = Defaults.groupName(group.getName(), i, written.getName());
            collect(() -> SchedulingRules.check(bare.toBuilder()
                    .addInstanceGroup(group.toBuilder().setName(name))
                    .build()));
        }
    }

    private void tensors(ModelConfig written) {
        ModelConfig.Builder none =
                written.toBuilder().clearInput().clearOutput().clearBatchInput().clearBatchOutput();
        ModelConfig bare = none.build();
        written.getInputList()
                .forEach(input -> collect(
                        () -> TensorRules.check(bare.toBuilder().addInput(input).build())));
        written.getOutputList()
                .forEach(output -> collect(() ->
                        TensorRules.check(bare.toBuilder().addOutput(output).build())));
        collect(() -> TensorRules.check(written));
    }

    private void collect(Runnable check) {
        try {
            check.run();
        } catch (GatunException e) {
            texts.add(e.getMessage());
        }
    }
}
