// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Dataflow.Decision;
import gatun.backend.onnxruntime.graph.Dataflow.Step;
import gatun.backend.onnxruntime.graph.Graph.Attribute;
import gatun.backend.onnxruntime.graph.Graph.Constant;
import gatun.backend.onnxruntime.graph.Graph.Function;
import gatun.backend.onnxruntime.graph.Graph.Input;
import gatun.backend.onnxruntime.graph.Graph.Model;
import gatun.backend.onnxruntime.graph.Graph.Node;
import gatun.backend.onnxruntime.graph.Graph.OperatorKey;
import gatun.backend.onnxruntime.graph.Operator.Role;
import gatun.backend.onnxruntime.graph.Operator.Use;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes a model's data flow: resolves names, unfolds branches, loops and functions. Used once. */
final class Unfolding {
    /** Steps of the whole model, functions unfolded; they may call one another, so that few make many. */
    private static final int MAX_STEPS = 100_000;

    /** Inputs, outputs and attributes of all steps. */
    private static final int MAX_EDGES = 500_000;

    /** Bodies within bodies. */
    private static final int MAX_DEPTH = 2 * GraphReader.MAX_DEPTH;

    private static final OperatorKey CONSTANT = OperatorKey.onnx("Constant");
    private static final int INT64 = 7;

    private final Model model;
    private final Dataflow flow = new Dataflow();
    private int stepCount;
    private int edgeCount;
    private int depth;

    private Unfolding(Model model) {
        this.model = model;
    }

    /** The data flow of a model. Throws {@link UnreadableGraphException} for one that is too large to follow. */
    static Dataflow of(Model model) {
        return new Unfolding(model).run();
    }

    private Dataflow run() {
        Scope scope = new Scope(null, Map.of());
        Graph graph = model.graph();
        declare(graph, scope);
        for (Input input : graph.inputs()) {
            if (!input.name().isEmpty()) {
                flow.inputs.put(scope.value(input.name()), input);
            }
        }
        unfold(graph, scope);
        graph.outputs().stream()
                .filter(output -> !output.isEmpty())
                .forEach(output -> flow.outputs.add(scope.value(output)));
        flow.names = scope.values;
        flow.opset = model.opset();
        return flow;
    }

    /** Names, in a graph and those around it. */
    private final class Scope {
        final @Nullable Scope outer;
        final Map<String, Attribute> arguments;
        final Map<String, Integer> values = new HashMap<>();

        Scope(@Nullable Scope outer, Map<String, Attribute> arguments) {
            this.outer = outer;
            this.arguments = arguments;
        }

        int define(String name) {
            return name.isEmpty() ? Dataflow.ABSENT : values.computeIfAbsent(name, n -> flow.addValue());
        }

        /** The number of a value; one that nothing defines is a constant, such as a sparse initialiser. */
        int value(String name) {
            if (name.isEmpty()) {
                return Dataflow.ABSENT;
            }
            for (Scope scope = this; scope != null; scope = scope.outer) {
                Integer value = scope.values.get(name);
                if (value != null) {
                    return value;
                }
            }
            return define(name);
        }

        List<Integer> values(List<String> names) {
            return names.stream().map(this::value).toList();
        }
    }

    /** Gives numbers to all that a graph defines, since its nodes may be in any order. */
    private void declare(Graph graph, Scope scope) {
        count(graph.inputs().size()
                + graph.outputs().size()
                + graph.constants().size()
                + graph.ranks().size());
        for (Input input : graph.inputs()) {
            scope.define(input.name());
        }
        graph.constants().forEach((name, constant) -> {
            if (!name.isEmpty()) {
                flow.constants.put(scope.define(name), constant);
            }
        });
        for (Node node : graph.nodes()) {
            node.outputs().forEach(scope::define);
        }
        graph.ranks().forEach((name, rank) -> {
            Integer value = scope.values.get(name);
            if (value != null) {
                flow.ranks.put(value, rank);
            }
        });
    }

    private void unfold(Graph graph, Scope scope) {
        if (++depth > MAX_DEPTH) {
            throw new UnreadableGraphException(UnreadableGraphException.TOO_LARGE);
        }
        for (Node node : graph.nodes()) {
            unfold(node, scope);
        }
        depth--;
    }

    private void unfold(Node node, Scope scope) {
        Step step = step(node, scope);
        count(step.inputs().size() + step.outputs().size() + node.attributes().size());
        Function function = model.functions().get(node.key());
        if (function != null) {
            if (step.operator().isPresent()) {
                throw new UnreadableGraphException("the graph has a function by the name of an operator");
            }
            unfold(function, step);
            return;
        }
        addConstant(step);
        flow.steps.add(step);
        if (node.key().domain().isEmpty() && step.operator().isPresent()) {
            switch (node.key().name()) {
                case "If" -> unfoldIf(step, scope);
                case "Loop" -> unfoldLoop(step, scope);
                case "Scan" -> unfoldScan(step, scope);
                default -> unfoldUnknown(step, scope);
            }
        } else {
            unfoldUnknown(step, scope);
        }
        addDecisions(step);
    }

    private void count(int edges) {
        stepCount++;
        edgeCount += edges;
        if (stepCount > MAX_STEPS || edgeCount > MAX_EDGES) {
            throw new UnreadableGraphException(UnreadableGraphException.TOO_LARGE);
        }
    }

    private Step step(Node node, Scope scope) {
        Map<String, Attribute> attributes = node.attributes();
        if (attributes.values().stream()
                .anyMatch(attribute -> !attribute.reference().isEmpty())) {
            attributes = new HashMap<>(attributes);
            attributes.replaceAll((name, attribute) -> resolve(attribute, scope));
        }
        String name = node.name().isEmpty()
                ? node.outputs().stream()
                        .filter(output -> !output.isEmpty())
                        .findFirst()
                        .orElse("")
                : node.name();
        return new Step(
                node.key(),
                Operators.find(node.key()),
                name,
                scope.values(node.inputs()),
                scope.values(node.outputs()),
                attributes);
    }

    private static Attribute resolve(Attribute attribute, Scope scope) {
        if (attribute.reference().isEmpty()) {
            return attribute;
        }
        Attribute argument = scope.arguments.getOrDefault(attribute.reference(), attribute);
        if (argument.graph().isPresent()) {
            // Its names are those of the caller.
            throw new UnreadableGraphException("the graph has a function that takes a graph");
        }
        return argument;
    }

    private void addConstant(Step step) {
        if (step.key().equals(CONSTANT)
                && step.outputs().size() == 1
                && step.outputs().get(0) != Dataflow.ABSENT) {
            constant(step.attributes())
                    .ifPresent(constant -> flow.constants.put(step.outputs().get(0), constant));
        }
    }

    private static Optional<Constant> constant(Map<String, Attribute> attributes) {
        Attribute value = attributes.get("value");
        if (value != null && value.tensor().isPresent()) {
            return value.tensor();
        }
        Attribute number = attributes.get("value_int");
        if (number != null && number.number().isPresent()) {
            return number.number().map(n -> new Constant("int:" + n, INT64, Optional.of(List.of(n)), 0));
        }
        Attribute numbers = attributes.get("value_ints");
        if (numbers != null) {
            return Optional.of(new Constant("ints:" + numbers.numbers(), INT64, Optional.of(numbers.numbers()), 1));
        }
        return Optional.empty();
    }

    private void addDecisions(Step step) {
        for (int i = 0; i < step.inputs().size(); i++) {
            int value = step.inputs().get(i);
            if (step.operator().isEmpty()) {
                flow.addDecision(value, step, "");
                continue;
            }
            Role role = step.operator().get().role(i);
            if (value != Dataflow.ABSENT && role.use() != Use.DATA) {
                flow.decisions.add(new Decision(value, step, role.use(), role.how()));
            }
        }
    }

    private void unfold(Function function, Step call) {
        count(function.inputs().size() + function.defaults().size());
        Map<String, Attribute> arguments = new HashMap<>(function.defaults());
        arguments.putAll(call.attributes());
        Scope scope = new Scope(null, arguments);
        for (int i = 0; i < function.inputs().size(); i++) {
            int value = i < call.inputs().size() ? call.inputs().get(i) : Dataflow.ABSENT;
            scope.values.put(function.inputs().get(i), value == Dataflow.ABSENT ? flow.addValue() : value);
        }
        List<String> outputs = function.body().outputs();
        for (int i = 0; i < outputs.size() && i < call.outputs().size(); i++) {
            if (call.outputs().get(i) == Dataflow.ABSENT) {
                continue;
            }
            Integer passed =
                    scope.values.putIfAbsent(outputs.get(i), call.outputs().get(i));
            if (passed != null) {
                flow.addMove(passed, call.outputs().get(i));
            }
        }
        declare(function.body(), scope);
        unfold(function.body(), scope);
    }

    /** The inputs and outputs of a body, by their numbers. */
    private record Body(List<Integer> inputs, List<Integer> outputs) {}

    private Optional<Body> body(Step step, String attribute, Scope scope) {
        Attribute value = step.attributes().get(attribute);
        if (value == null || value.graph().isEmpty()) {
            return Optional.empty();
        }
        Graph graph = value.graph().get();
        Scope inner = new Scope(scope, scope.arguments);
        declare(graph, inner);
        unfold(graph, inner);
        return Optional.of(new Body(
                inner.values(graph.inputs().stream().map(Input::name).toList()), inner.values(graph.outputs())));
    }

    private void unfoldIf(Step step, Scope scope) {
        for (String branch : List.of("then_branch", "else_branch")) {
            body(step, branch, scope).ifPresent(body -> {
                for (int i = 0; i < body.outputs().size() && i < step.outputs().size(); i++) {
                    flow.addMove(body.outputs().get(i), step.outputs().get(i));
                }
            });
        }
    }

    /** Trip count and condition come before the values that go round; the body's first output is the condition. */
    private void unfoldLoop(Step step, Scope scope) {
        body(step, "body", scope).ifPresent(body -> {
            int carried = step.inputs().size() - 2;
            if (carried < 0
                    || body.inputs().size() != carried + 2
                    || body.outputs().size() < carried + 1) {
                refuse(step);
                return;
            }
            for (int i = 0; i < carried; i++) {
                goRound(
                        step.inputs().get(i + 2),
                        body.inputs().get(i + 2),
                        body.outputs().get(i + 1),
                        step.outputs(),
                        i);
            }
            for (int i = carried;
                    i + 1 < body.outputs().size() && i < step.outputs().size();
                    i++) {
                flow.addMove(body.outputs().get(i + 1), step.outputs().get(i));
            }
            flow.addDecision(body.outputs().get(0), step, "takes it as condition");
        });
    }

    private void unfoldScan(Step step, Scope scope) {
        body(step, "body", scope).ifPresent(body -> {
            Attribute scanned = step.attributes().get("num_scan_inputs");
            int count = step.inputs().size();
            long states = count - (scanned == null ? 0 : scanned.number().orElse(0L));
            // Before version 9, lengths of sequences came first.
            if (body.inputs().size() != count
                    || states < 0
                    || states > Math.min(count, body.outputs().size())) {
                refuse(step);
                return;
            }
            for (int i = 0; i < count; i++) {
                if (i < states) {
                    goRound(
                            step.inputs().get(i),
                            body.inputs().get(i),
                            body.outputs().get(i),
                            step.outputs(),
                            i);
                } else {
                    flow.addMove(step.inputs().get(i), body.inputs().get(i));
                }
            }
            for (int i = (int) states;
                    i < body.outputs().size() && i < step.outputs().size();
                    i++) {
                flow.addMove(body.outputs().get(i), step.outputs().get(i));
            }
        });
    }

    private void goRound(int start, int bodyInput, int bodyOutput, List<Integer> results, int index) {
        flow.addMove(start, bodyInput);
        flow.addMove(bodyOutput, bodyInput);
        if (index < results.size()) {
            flow.addMove(start, results.get(index));
            flow.addMove(bodyOutput, results.get(index));
        }
    }

    /** A body that does not fit: whatever goes in may decide anything. */
    private void refuse(Step step) {
        for (int input : step.inputs()) {
            flow.addDecision(input, step, "has a body that does not fit it");
        }
    }

    /** Graphs of an operator of which nobody knows when it runs them, and with what. */
    private void unfoldUnknown(Step step, Scope scope) {
        for (Attribute attribute : step.attributes().values()) {
            attribute.graph().ifPresent(graph -> {
                Scope inner = new Scope(scope, scope.arguments);
                declare(graph, inner);
                int first = flow.steps.size();
                unfold(graph, inner);
                for (Step within : flow.steps.subList(first, flow.steps.size())) {
                    for (int input : within.inputs()) {
                        flow.addDecision(input, step, "");
                    }
                }
                for (int output : inner.values(graph.outputs())) {
                    flow.addDecision(output, step, "");
                }
            });
        }
    }
}
