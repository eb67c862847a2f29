// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Graph.Attribute;
import gatun.backend.onnxruntime.graph.Graph.Constant;
import gatun.backend.onnxruntime.graph.Graph.Input;
import gatun.backend.onnxruntime.graph.Graph.OperatorKey;
import gatun.backend.onnxruntime.graph.Operator.Use;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A model's values, by number, and the steps that make them. Bodies of branches, loops and functions are unfolded:
 * their steps are among the model's own, joined by moves. Written by {@link Unfolding} only.
 */
final class Dataflow {
    static final int ABSENT = -1;

    /**
     * An operator, or a move between a body and what is around it; inputs and outputs are values or {@link #ABSENT}.
     * {@code operator} is empty for an unknown one; {@code name}, for people, is the node's or its output's.
     */
    record Step(
            OperatorKey key,
            Optional<Operator> operator,
            String name,
            List<Integer> inputs,
            List<Integer> outputs,
            Map<String, Attribute> attributes) {
        Operator.Result result() {
            return operator.map(Operator::result).orElse(Operator.Result.UNKNOWN);
        }

        String label() {
            return isMove() ? name : FileCursor.display(key.name()) + " '" + FileCursor.display(name) + "'";
        }

        boolean isMove() {
            return key.equals(MOVE);
        }
    }

    /** A use of a value that may not see it change; {@code how}, for people, is empty for an unknown step. */
    record Decision(int value, Step step, Use use, String how) {
        String reason() {
            return how.isEmpty() ? unknown(step) : step.label() + " " + how;
        }
    }

    /** Why an output of a step is not known. */
    static String unknown(Step step) {
        if (step.operator().isPresent()) {
            return step.label() + " makes it";
        }
        String domain = step.key().domain();
        return "'"
                + FileCursor.display(
                        domain + (domain.isEmpty() ? "" : ".") + step.key().name()) + "' is not known";
    }

    static final OperatorKey MOVE = new OperatorKey("", "", "");

    private static final Operator MOVES =
            new Operator(Operator.Result.FORWARDED, List.of(new Operator.Role("value", Use.DATA, false)));

    final List<Step> steps = new ArrayList<>();
    final List<Decision> decisions = new ArrayList<>();
    final Map<Integer, Constant> constants = new HashMap<>();
    final Map<Integer, Integer> ranks = new HashMap<>();

    /** The model's own inputs by their numbers, initialisers among them. */
    final Map<Integer, Input> inputs = new HashMap<>();

    /** The numbers of the model's outputs, in order. */
    final List<Integer> outputs = new ArrayList<>();

    /** The version of ONNX's own operators. */
    long opset;

    /** The values of the model's own graph, by their names. */
    Map<String, Integer> names = Map.of();

    private int valueCount;

    int addValue() {
        return valueCount++;
    }

    int valueCount() {
        return valueCount;
    }

    void addMove(int from, int to) {
        if (from != ABSENT && to != ABSENT) {
            steps.add(new Step(MOVE, Optional.of(MOVES), "", List.of(from), List.of(to), Map.of()));
        }
    }

    void addDecision(int value, Step step, String how) {
        if (value != ABSENT) {
            decisions.add(new Decision(value, step, Use.DECIDES, how));
        }
    }

    List<List<Step>> consumers() {
        List<List<Step>> consumers = lists();
        for (Step step : steps) {
            for (int input : step.inputs()) {
                if (input != ABSENT) {
                    consumers.get(input).add(step);
                }
            }
        }
        return consumers;
    }

    /** The steps that make each value: one, or several moves; none for an input or a constant. */
    List<List<Step>> producers() {
        List<List<Step>> producers = lists();
        for (Step step : steps) {
            for (int output : step.outputs()) {
                if (output != ABSENT) {
                    producers.get(output).add(step);
                }
            }
        }
        return producers;
    }

    private List<List<Step>> lists() {
        return Stream.<List<Step>>generate(() -> new ArrayList<>(0))
                .limit(valueCount)
                .toList();
    }

    /** Values that differ between requests: made of inputs. Shapes count as constant. */
    BitSet variables(List<List<Step>> consumers) {
        BitSet variables = new BitSet(valueCount);
        Deque<Integer> next = new ArrayDeque<>();
        inputs.keySet().stream().filter(input -> !constants.containsKey(input)).forEach(input -> {
            variables.set(input);
            next.add(input);
        });
        while (!next.isEmpty()) {
            int value = next.remove();
            for (Step step : consumers.get(value)) {
                if (step.key().domain().isEmpty()
                        && (step.key().name().equals("Shape")
                                || step.key().name().equals("Size"))) {
                    continue;
                }
                for (int output : step.outputs()) {
                    if (output != ABSENT && !variables.get(output)) {
                        variables.set(output);
                        next.add(output);
                    }
                }
            }
        }
        return variables;
    }
}
