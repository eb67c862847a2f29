// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ensemble.EnsemblePlan.EnsembleStep;
import gatun.runtime.execution.ServedModel;
import gatun.spi.MemoryUse;
import java.util.Optional;
import java.util.function.BiFunction;

/** Where the members of an ensemble touch its tensors that lie in clients' memory. Immutable. */
record MemberMemory(EnsemblePlan plan, MemberModels members) {
    /** As the step says that copies an input, or the last that reads it in place. */
    MemoryUse input(String name) {
        int tensor = plan.tensor(name);
        MemoryUse use = MemoryUse.IN_PLACE;
        for (EnsembleStep step : plan.steps()) {
            for (EnsembleStep.MappedTensor mapped : step.inputs()) {
                if (mapped.tensor() == tensor && use.isInPlace()) {
                    use = of(step, mapped.name(), ServedModel::inputMemory);
                }
            }
        }
        return use;
    }

    /** As the step says that makes an output, unless another step reads it. */
    MemoryUse output(String name) {
        int tensor = plan.tensor(name);
        if (tensor < 0 || plan.producer(tensor) == EnsemblePlan.FROM_REQUEST) {
            return MemoryUse.copied("it is an input of the request");
        }
        if (plan.consumers(tensor).length > 0) {
            return MemoryUse.copied("step " + plan.consumers(tensor)[0] + " reads it");
        }
        EnsembleStep producer = plan.steps().get(plan.producer(tensor));
        for (EnsembleStep.MappedTensor mapped : producer.outputs()) {
            if (mapped.tensor() == tensor) {
                return of(producer, mapped.name(), ServedModel::outputMemory);
            }
        }
        throw new AssertionError("a step makes a tensor that is none of its outputs");
    }

    private MemoryUse of(EnsembleStep step, String name, BiFunction<ServedModel, String, MemoryUse> asked) {
        Optional<ServedModel> member = member(step);
        if (member.isEmpty()) {
            return MemoryUse.copied("step " + step.index() + ", model '" + step.model() + "', is not loaded");
        }
        MemoryUse use = asked.apply(member.get(), name);
        String prefix = "step " + step.index() + ", model '" + step.model() + "'";
        return new MemoryUse(use.place(), use.reason().isEmpty() ? prefix : prefix + ": " + use.reason());
    }

    private Optional<ServedModel> member(EnsembleStep step) {
        try {
            return Optional.of(members.member(step.model(), step.version()));
        } catch (GatunException unavailable) {
            return Optional.empty();
        }
    }
}
