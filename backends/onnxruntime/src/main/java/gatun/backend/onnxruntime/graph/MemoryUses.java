// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Dataflow.Decision;
import gatun.backend.onnxruntime.graph.Dataflow.Step;
import gatun.backend.onnxruntime.graph.Graph.Constant;
import gatun.backend.onnxruntime.graph.Graph.OperatorKey;
import gatun.backend.onnxruntime.graph.Operator.Result;
import gatun.backend.onnxruntime.graph.Operator.Use;
import gatun.spi.MemoryUse;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** Where runs may touch clients' memory. What the engine may take out, such as adding 0, counts as not there. */
final class MemoryUses {
    /** The number of texts in {@code TensorProto.DataType}. */
    private static final int STRING = 8;

    /** Values that are looked at before those of outputs, for all outputs together. */
    private static final int MAX_WALKED = 1_000_000;

    private final Dataflow flow;
    private final List<List<Step>> consumers;
    private final List<List<Step>> producers;
    private final BitSet variables;
    private final ElementTypes types;
    private final Optional<Twins> twins;
    private final Map<Integer, Integer> outputs = new HashMap<>();
    private int walkedCount;

    private MemoryUses(Dataflow flow) {
        this.flow = flow;
        consumers = flow.consumers();
        producers = flow.producers();
        variables = flow.variables(consumers);
        types = new ElementTypes(flow);
        twins = Twins.find(flow, this::vanishingInputs);
        flow.outputs.forEach(output -> outputs.merge(output, 1, Integer::sum));
    }

    /** How runs use the memory of inputs and outputs, by their names. */
    record Uses(Map<String, MemoryUse> inputs, Map<String, MemoryUse> outputs) {}

    static Uses of(Dataflow flow) {
        MemoryUses memory = new MemoryUses(flow);
        return new Uses(memory.inputs(), memory.outputs());
    }

    private Map<String, MemoryUse> inputs() {
        Map<Integer, Decision> ofQuantized = decisions(true);
        Map<Integer, Decision> ofOthers = decisions(false);
        Map<String, MemoryUse> uses = new HashMap<>();
        flow.inputs.forEach((value, input) -> {
            Decision decision = (ElementTypes.mayBeQuantized(input.elementType()) ? ofQuantized : ofOthers).get(value);
            MemoryUse use = decision == null ? MemoryUse.IN_PLACE : MemoryUse.copied(decision.reason());
            if (input.elementType() == STRING) {
                use = MemoryUse.copied("BYTES are always copied");
            } else if (outputs.containsKey(value)) {
                use = MemoryUse.copied("it is an output, too");
            }
            put(uses, input.name(), use);
        });
        return uses;
    }

    /** What decides by values, or by what may be the same memory: the nearest of these, by the values' numbers. */
    private Map<Integer, Decision> decisions(boolean quantized) {
        Map<Integer, Decision> found = new HashMap<>();
        Deque<Integer> next = new ArrayDeque<>();
        for (Decision decision : flow.decisions) {
            boolean counts =
                    switch (decision.use()) {
                        case DATA -> false;
                        case DIVISION -> types.mayBeInteger(decision.value());
                        case QUANTIZED -> quantized;
                        case DECIDES -> true;
                    };
            if (counts && found.putIfAbsent(decision.value(), decision) == null) {
                next.add(decision.value());
            }
        }
        while (!next.isEmpty()) {
            int value = next.remove();
            Decision decision = Objects.requireNonNull(found.get(value));
            for (Step step : producers.get(value)) {
                if (!handsOn(step)) {
                    continue;
                }
                for (int input : dataInputs(step)) {
                    if (found.putIfAbsent(input, decision) == null) {
                        next.add(input);
                    }
                }
            }
        }
        return found;
    }

    private static boolean handsOn(Step step) {
        return step.result() == Result.ARITHMETIC || step.result() == Result.FORWARDED;
    }

    private static List<Integer> dataInputs(Step step) {
        Operator operator = step.operator().orElseThrow();
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < step.inputs().size(); i++) {
            if (step.inputs().get(i) != Dataflow.ABSENT && operator.role(i).use() != Use.DECIDES) {
                found.add(step.inputs().get(i));
            }
        }
        return found;
    }

    /** The inputs that outputs of a step may be, when the engine has changed the graph; constants apart. */
    private List<Integer> vanishingInputs(Step step) {
        if (!handsOn(step) || isDivided(step)) {
            return List.of();
        }
        List<Integer> variable =
                dataInputs(step).stream().filter(variables::get).toList();
        return step.result() == Result.ARITHMETIC && variable.size() > 1 ? List.of() : variable;
    }

    /** Whether a step has more than one output, each with a part of its input. */
    private static boolean isDivided(Step step) {
        return step.key().name().equals("Split") && step.outputs().size() > 1;
    }

    private Map<String, MemoryUse> outputs() {
        Map<Integer, String> names = new HashMap<>();
        flow.names.forEach((name, value) -> names.put(value, name));
        Map<String, MemoryUse> uses = new HashMap<>();
        for (int output : outputs.keySet()) {
            String reason = outputReason(output);
            put(uses, names.getOrDefault(output, ""), reason.isEmpty() ? MemoryUse.IN_PLACE : MemoryUse.copied(reason));
        }
        return uses;
    }

    /** Names that are no valid UTF-8 may have one text. */
    private static void put(Map<String, MemoryUse> uses, String name, MemoryUse use) {
        uses.merge(FileCursor.text(name), use, (one, other) -> one.isInPlace() ? other : one);
    }

    /** Why an output is copied; empty where it is not. */
    private String outputReason(int output) {
        if (!consumers.get(output).isEmpty()) {
            return readAgain(consumers.get(output).get(0));
        }
        if (Objects.requireNonNull(outputs.get(output)) > 1) {
            return "it is an output twice";
        }
        Set<Integer> seen = new TreeSet<>(List.of(output));
        Deque<Integer> next = new ArrayDeque<>(seen);
        while (!next.isEmpty()) {
            String reason = reason(next.remove(), output, seen, next);
            if (!reason.isEmpty()) {
                return reason;
            }
        }
        return "";
    }

    /** Why memory is copied that may be a value of the graph as well as an output. */
    private String reason(int value, int output, Set<Integer> seen, Deque<Integer> next) {
        if (++walkedCount > MAX_WALKED || twins.isEmpty()) {
            return UnreadableGraphException.TOO_LARGE;
        }
        if (value != output && outputs.containsKey(value)) {
            return "it may be the memory of another output";
        }
        List<Step> makers = producers.get(value);
        if (makers.isEmpty()) {
            return "no operator makes it";
        }
        for (Step step : makers) {
            if (step.result() == Result.UNKNOWN) {
                return Dataflow.unknown(step);
            }
            if (twins.get().has(step)) {
                return "another node may compute the same as " + step.label() + ", and be read again";
            }
            walkedCount += step.inputs().size();
            for (int input : vanishingInputs(step)) {
                // The memory of an input of the model is never that of an output.
                if (flow.inputs.containsKey(input) || !seen.add(input)) {
                    continue;
                }
                for (Step reader : consumers.get(input)) {
                    if (!reader.equals(step)) {
                        return readAgain(reader);
                    }
                }
                next.add(input);
            }
        }
        return "";
    }

    private static String readAgain(Step reader) {
        return (reader.isMove() ? "a loop or branch" : reader.label()) + " reads it again";
    }

    /** Steps that the engine may merge: equal operators on possibly equal inputs. Finds rather too many. */
    static final class Twins {
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

        /** All twins of a model; empty where they are not found soon. */
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
                        step.key(),
                        step.inputs().stream().map(this::find).sorted().toList());
                Step other = first.putIfAbsent(computation, step);
                if (other != null) {
                    twins.add(step);
                    twins.add(other);
                    for (int i = 0;
                            i < Math.min(step.outputs().size(), other.outputs().size());
                            i++) {
                        changed[0] |=
                                unite(step.outputs().get(i), other.outputs().get(i));
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
}
