// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Dataflow.Step;
import gatun.backend.onnxruntime.graph.Graph.Constant;
import gatun.backend.onnxruntime.graph.Graph.OperatorKey;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Steps that may compute the same, of which the engine then leaves one: steps of one operator on inputs that may be the
 * same values. Attributes and the order of inputs are not looked at, so that rather too many are found.
 */
final class Twins {
    /** Each round finds those that follow from the one before; nodes in order need two. */
    private static final int MAX_ROUNDS = 16;

    private record Computation(OperatorKey key, List<Integer> inputs) {}

    private final Dataflow flow;

    /** A union-find of values that may be the same: each value's parent. */
    private final int[] parents;

    private final Set<Step> twins = Collections.newSetFromMap(new IdentityHashMap<>());

    private Twins(Dataflow flow) {
        this.flow = flow;
        parents = new int[flow.valueCount()];
        Arrays.setAll(parents, i -> i);
    }

    /**
     * All of a model.
     *
     * @param vanishing the inputs that the outputs of a step may be
     * @return empty for a model where they are not found soon
     */
    static Optional<Twins> find(Dataflow flow, Function<Step, List<Integer>> vanishing) {
        Twins twins = new Twins(flow);
        twins.uniteConstants();
        for (Step step : flow.steps) {
            for (int input : vanishing.apply(step)) {
                for (int output : step.outputs()) {
                    twins.unite(input, output);
                }
            }
        }
        for (int round = 0; round < MAX_ROUNDS; round++) {
            if (!twins.uniteComputations()) {
                return Optional.of(twins);
            }
        }
        return Optional.empty();
    }

    /** Whether another step may compute the same. */
    boolean has(Step step) {
        return twins.contains(step);
    }

    private void uniteConstants() {
        Map<String, Integer> contents = new HashMap<>();
        for (Map.Entry<Integer, Constant> constant : flow.constants.entrySet()) {
            unite(
                    constant.getKey(),
                    contents.computeIfAbsent(constant.getValue().content(), content -> constant.getKey()));
        }
    }

    private boolean uniteComputations() {
        boolean[] changed = {false};
        Map<Computation, Step> first = new HashMap<>();
        for (Step step : flow.steps) {
            if (step.isMove() || step.inputs().size() == 0) {
                continue;
            }
            Computation computation = new Computation(
                    step.key(), step.inputs().stream().map(this::find).sorted().toList());
            Step other = first.putIfAbsent(computation, step);
            if (other != null) {
                twins.add(step);
                twins.add(other);
                for (int i = 0;
                        i < Math.min(step.outputs().size(), other.outputs().size());
                        i++) {
                    changed[0] |= unite(step.outputs().get(i), other.outputs().get(i));
                }
            }
        }
        return changed[0];
    }

    private int find(int value) {
        int root = value;
        while (root != Dataflow.ABSENT && parents[root] != root) {
            parents[root] = parents[parents[root]];
            root = parents[root];
        }
        return root;
    }

    /** Whether they were not known to be the same. */
    private boolean unite(int one, int other) {
        int first = find(one);
        int second = find(other);
        if (first == Dataflow.ABSENT || second == Dataflow.ABSENT || first == second) {
            return false;
        }
        parents[Math.max(first, second)] = Math.min(first, second);
        return true;
    }
}
