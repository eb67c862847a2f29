// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ensemble.EnsemblePlan.EnsembleStep;
import gatun.runtime.execution.ServedModel;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelEnsembling.Step;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The data flow of an ensemble: its tensors by number, and its steps. Immutable. */
final class EnsemblePlan {
    /** The producer of a tensor that comes with the request. */
    static final int FROM_REQUEST = -1;

    private final List<String> tensors;
    private final List<EnsembleStep> steps;
    private final int[] producers;
    private final int[][] consumers;
    private final int[] outputs;
    private final boolean[] allSteps;
    private final List<EnsembleStep> inOrder;

    private EnsemblePlan(ModelConfig config) {
        Map<String, Integer> numbers = new LinkedHashMap<>();
        for (ModelInput input : config.getInputList()) {
            numbers.putIfAbsent(input.getName(), numbers.size());
        }
        List<EnsembleStep> made = new ArrayList<>();
        for (Step step : config.getEnsembleScheduling().getStepList()) {
            made.add(new EnsembleStep(
                    made.size(),
                    step.getModelName(),
                    step.getModelVersion(),
                    mappedTensors(step.getInputMapMap(), numbers),
                    mappedTensors(step.getOutputMapMap(), numbers)));
        }
        steps = List.copyOf(made);
        tensors = List.copyOf(numbers.keySet());
        producers = new int[tensors.size()];
        List<List<Integer>> readers = new ArrayList<>();
        for (int tensor = 0; tensor < producers.length; tensor++) {
            producers[tensor] = FROM_REQUEST;
            readers.add(new ArrayList<>());
        }
        for (EnsembleStep step : steps) {
            step.outputs().forEach(mapped -> producers[mapped.tensor()] = step.index());
            step.inputs().forEach(mapped -> readers.get(mapped.tensor()).add(step.index()));
        }
        consumers = readers.stream()
                .map(list -> list.stream().mapToInt(Integer::intValue).toArray())
                .toArray(int[][]::new);
        outputs = config.getOutputList().stream()
                .map(ModelOutput::getName)
                .mapToInt(tensors::indexOf)
                .toArray();
        allSteps = needed(outputs);
        inOrder = List.copyOf(sorted());
    }

    static EnsemblePlan of(ModelConfig config) {
        return new EnsemblePlan(config);
    }

    private static List<EnsembleStep.MappedTensor> mappedTensors(
            Map<String, String> mapped, Map<String, Integer> numbers) {
        List<EnsembleStep.MappedTensor> tensors = new ArrayList<>();
        mapped.forEach((name, tensor) -> {
            numbers.putIfAbsent(tensor, numbers.size());
            tensors.add(new EnsembleStep.MappedTensor(name, numbers.get(tensor)));
        });
        return tensors;
    }

    private List<EnsembleStep> sorted() {
        List<EnsembleStep> sorted = new ArrayList<>();
        boolean[] placed = new boolean[steps.size()];
        while (sorted.size() < steps.size()) {
            for (EnsembleStep step : steps) {
                if (!placed[step.index()]
                        && step.inputs().stream().allMatch(mapped -> isMade(mapped.tensor(), placed))) {
                    sorted.add(step);
                    placed[step.index()] = true;
                }
            }
        }
        return sorted;
    }

    private boolean isMade(int tensor, boolean[] placed) {
        return producers[tensor] == FROM_REQUEST || placed[producers[tensor]];
    }

    int tensorCount() {
        return producers.length;
    }

    String tensorName(int tensor) {
        return tensors.get(tensor);
    }

    /** The number of that tensor; negative when there is none. */
    int tensor(String name) {
        return tensors.indexOf(name);
    }

    List<EnsembleStep> steps() {
        return steps;
    }

    /** The steps, each after those whose tensors it reads. */
    List<EnsembleStep> inOrder() {
        return inOrder;
    }

    /** The step that writes a tensor, or {@link #FROM_REQUEST}. */
    int producer(int tensor) {
        return producers[tensor];
    }

    /** The steps that read each tensor, once for each of their inputs. Not to be changed. */
    int[] consumers(int tensor) {
        return consumers[tensor];
    }

    boolean isFirst(EnsembleStep step) {
        return step.inputs().stream().allMatch(mapped -> producers[mapped.tensor()] == FROM_REQUEST);
    }

    int output(int index) {
        return outputs[index];
    }

    /** The names of the members, each once, in the order of the steps. */
    List<String> members() {
        return steps.stream().map(EnsembleStep::model).distinct().toList();
    }

    boolean[] allSteps() {
        return allSteps;
    }

    boolean[] needed(int[] wanted) {
        boolean[] needed = new boolean[steps.size()];
        for (int tensor : wanted) {
            need(tensor, needed);
        }
        return needed;
    }

    private void need(int tensor, boolean[] needed) {
        int producer = producers[tensor];
        if (producer == FROM_REQUEST || needed[producer]) {
            return;
        }
        needed[producer] = true;
        for (EnsembleStep.MappedTensor mapped : steps.get(producer).inputs()) {
            need(mapped.tensor(), needed);
        }
    }

    /** One model in an ensemble: its place from 0, version or {@link MemberModels#LATEST}, and its tensors. */
    record EnsembleStep(int index, String model, long version, List<MappedTensor> inputs, List<MappedTensor> outputs) {
        /** A tensor of the member that is a tensor of the ensemble. */
        record MappedTensor(String name, int tensor) {}

        EnsembleStep {
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
        }
    }

    /**
     * Whether the members of an ensemble still fit together: a reloaded one may have other tensors. The rules are checked
     * again only when a member's configuration has changed. Thread-safe.
     */
    static final class MemberFit {
        private final ModelConfig ensemble;
        private final EnsemblePlan plan;
        private final MemberModels members;

        /** Which steps gave any number of responses when the ensemble was made for them. */
        private final boolean[] decoupled;

        private volatile Finding latest;

        /**
         * The result of the rules for {@code members}, one per step: the broken rule, if any; {@code outdated} when the
         * ensemble was made for others, and may fit once made for these.
         */
        private record Finding(
                List<ModelConfig> members, BitSet sequential, Optional<String> misfit, boolean outdated) {
            static Finding of(List<ServedModel> members, Optional<String> misfit, boolean outdated) {
                BitSet sequential = new BitSet();
                for (int i = 0; i < members.size(); i++) {
                    sequential.set(i, members.get(i).keepsSequences());
                }
                return new Finding(configs(members), sequential, misfit, outdated);
            }
        }

        MemberFit(ModelConfig ensemble, EnsemblePlan plan, MemberModels members, List<ServedModel> found) {
            this.ensemble = ensemble;
            this.plan = plan;
            this.members = members;
            decoupled = new boolean[found.size()];
            for (int i = 0; i < decoupled.length; i++) {
                decoupled[i] = found.get(i).decoupled();
            }
            latest = Finding.of(found, Optional.empty(), false);
        }

        MemberModels members() {
            return members;
        }

        /** Which rule the members break, in the words of the index; empty when they fit. */
        Optional<String> misfit() {
            try {
                return now().misfit();
            } catch (GatunException gone) {
                return Optional.of(gone.getMessage());
            }
        }

        /** Whether a member became decoupled, or no longer is, since the ensemble was made. */
        boolean outdated() {
            try {
                return now().outdated();
            } catch (GatunException gone) {
                return false;
            }
        }

        /** Whether the member of a step keeps sequences, as far as the last look at the members showed. */
        boolean keepsSequences(int step) {
            return latest.sequential().get(step);
        }

        private Finding now() {
            Finding known = latest;
            for (int i = 0; i < plan.steps().size(); i++) {
                if (isAnother(member(i).config(), known.members().get(i))) {
                    known = look();
                    latest = known;
                    break;
                }
            }
            return known;
        }

        private Finding look() {
            List<ServedModel> found = new ArrayList<>();
            for (int i = 0; i < plan.steps().size(); i++) {
                found.add(member(i));
            }
            try {
                MemberRules.check(ensemble, configs(found));
            } catch (GatunException broken) {
                return Finding.of(found, Optional.of(broken.getMessage()), false);
            }
            for (int i = 0; i < decoupled.length; i++) {
                if (found.get(i).decoupled() != decoupled[i]) {
                    String change = decoupled[i] ? "is not decoupled any more" : "has become decoupled";
                    return Finding.of(
                            found,
                            Optional.of("in ensemble " + ensemble.getName() + ", model "
                                    + plan.steps().get(i).model() + " " + change
                                    + " since the ensemble was loaded, which has to be loaded again"),
                            true);
                }
            }
            return Finding.of(found, Optional.empty(), false);
        }

        private static List<ModelConfig> configs(List<ServedModel> members) {
            return members.stream().map(ServedModel::config).toList();
        }

        private ServedModel member(int step) {
            EnsembleStep asked = plan.steps().get(step);
            return members.member(asked.model(), asked.version());
        }

        @SuppressWarnings("ReferenceEquality") // a reload makes another object, and equals() would cost each request
        private static boolean isAnother(ModelConfig now, ModelConfig known) {
            return now != known;
        }
    }
}
