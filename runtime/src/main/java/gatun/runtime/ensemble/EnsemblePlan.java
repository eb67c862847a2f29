// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelEnsembling.Step;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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
                    links(step.getInputMapMap(), numbers),
                    links(step.getOutputMapMap(), numbers)));
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
            step.outputs().forEach(link -> producers[link.tensor()] = step.index());
            step.inputs().forEach(link -> readers.get(link.tensor()).add(step.index()));
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

    private static List<EnsembleStep.Link> links(Map<String, String> mapped, Map<String, Integer> numbers) {
        List<EnsembleStep.Link> links = new ArrayList<>();
        mapped.forEach((name, tensor) -> {
            numbers.putIfAbsent(tensor, numbers.size());
            links.add(new EnsembleStep.Link(name, numbers.get(tensor)));
        });
        return links;
    }

    private List<EnsembleStep> sorted() {
        List<EnsembleStep> sorted = new ArrayList<>();
        boolean[] placed = new boolean[steps.size()];
        while (sorted.size() < steps.size()) {
            for (EnsembleStep step : steps) {
                if (!placed[step.index()] && step.inputs().stream().allMatch(link -> isMade(link.tensor(), placed))) {
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
        return step.inputs().stream().allMatch(link -> producers[link.tensor()] == FROM_REQUEST);
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
        for (EnsembleStep.Link link : steps.get(producer).inputs()) {
            need(link.tensor(), needed);
        }
    }

    /** One model in an ensemble: its place from 0, version or {@link MemberModels#LATEST}, and its tensors' links. */
    record EnsembleStep(int index, String model, long version, List<Link> inputs, List<Link> outputs) {
        /** A tensor of the member that is a tensor of the ensemble. */
        record Link(String name, int tensor) {}

        EnsembleStep {
            inputs = List.copyOf(inputs);
            outputs = List.copyOf(outputs);
        }
    }
}
