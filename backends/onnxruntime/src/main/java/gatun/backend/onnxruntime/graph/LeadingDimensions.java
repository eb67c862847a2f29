// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Dataflow.Step;
import gatun.backend.onnxruntime.graph.Operator.Result;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Follows which values have the rows of a batch as their first dimension. Steps are followed in the model's order. */
final class LeadingDimensions {
    /** The first dimension of a value. */
    enum Leading {
        /** Of a value that is the same for every request. */
        CONSTANT,
        /** The rows of the batch. */
        ROWS,
        /** Unknown, of a value that depends on inputs. */
        UNKNOWN
    }

    private record Layout(Leading leading, OptionalInt rank) {
        static Layout of(boolean hasRows, OptionalInt rank) {
            return new Layout(hasRows ? Leading.ROWS : Leading.UNKNOWN, rank);
        }
    }

    private static final Layout NONE = new Layout(Leading.CONSTANT, OptionalInt.empty());
    private static final Layout UNKNOWN = new Layout(Leading.UNKNOWN, OptionalInt.empty());

    private final Dataflow flow;
    private final Layout[] layouts;

    /** At first, only the layouts of inputs and constants are known. */
    LeadingDimensions(Dataflow flow) {
        this.flow = flow;
        layouts = new Layout[flow.valueCount()];
        Arrays.fill(layouts, NONE);
        flow.ranks.forEach((value, rank) -> layouts[value] = new Layout(Leading.CONSTANT, OptionalInt.of(rank)));
        flow.constants.forEach(
                (value, constant) -> layouts[value] = new Layout(Leading.CONSTANT, OptionalInt.of(constant.rank())));
        flow.inputs.keySet().stream()
                .filter(input -> !flow.constants.containsKey(input))
                .forEach(input -> {
                    OptionalInt rank = layouts[input].rank();
                    layouts[input] = Layout.of(!rank.equals(OptionalInt.of(0)), rank);
                });
    }

    /** Whether any input of a step depends on those of the model. */
    boolean isVariable(Step step) {
        return step.inputs().stream()
                .anyMatch(input -> input != Dataflow.ABSENT && layouts[input].leading() != Leading.CONSTANT);
    }

    /** The first dimension of the input of a step. */
    Leading leading(Step step, int position) {
        return layout(step, position).leading();
    }

    /** The number of dimensions of the input of a step; empty where it is not known. */
    OptionalInt rank(Step step, int position) {
        return layout(step, position).rank();
    }

    /** Whether an axis of an input, counted from either end, is the first. */
    boolean isFirst(Step step, int position, long axis) {
        OptionalInt rank = rank(step, position);
        return axis == 0 || (axis < 0 && rank.isPresent() && axis + rank.getAsInt() == 0);
    }

    private Layout layout(Step step, int position) {
        return new Arguments(step, flow.constants).hasInput(position)
                ? layouts[step.inputs().get(position)]
                : NONE;
    }

    /** Whether a step reduces by the axes that it is given. */
    static boolean isReduction(Step step) {
        return step.key().domain().isEmpty() && step.key().name().startsWith("Reduce");
    }

    /** Learns the layouts of what a step makes. */
    void follow(Step step) {
        String name = step.key().name();
        if (!isVariable(step) || name.equals("Shape") || name.equals("Size")) {
            return;
        }
        Layout made = step.result() == Result.UNKNOWN ? UNKNOWN : after(step);
        for (int output : step.outputs()) {
            if (output == Dataflow.ABSENT) {
                continue;
            }
            Layout before = layouts[output];
            // A branch or a loop has several moves to an output.
            boolean agrees = before.leading() == Leading.CONSTANT || before.leading() == made.leading();
            layouts[output] = new Layout(
                    agrees ? made.leading() : Leading.UNKNOWN, before.rank().isPresent() ? before.rank() : made.rank());
        }
    }

    private Layout after(Step step) {
        Arguments arguments = new Arguments(step, flow.constants);
        boolean hasRows = leading(step, 0) == Leading.ROWS;
        OptionalInt rank = rank(step, 0);
        return switch (step.key().name()) {
            case "Expand",
                    "Tile",
                    "Einsum",
                    "RoiAlign",
                    "MaxRoiPool",
                    "Trilu",
                    "EyeLike",
                    "CDist",
                    "GatherND",
                    "Scatter",
                    "ScatterElements",
                    "ScatterND" -> UNKNOWN;
            case "Transpose" ->
                Layout.of(
                        hasRows
                                && arguments
                                        .numbers("perm", Integer.MAX_VALUE)
                                        .filter(order -> !order.isEmpty() && order.get(0) == 0)
                                        .isPresent(),
                        rank);
            case "Reshape" -> reshaped(arguments, hasRows);
            case "Flatten" -> Layout.of(hasRows && arguments.number("axis", 1) != 0, OptionalInt.of(2));
            case "Unsqueeze" -> resized(arguments, hasRows, rank, 1);
            case "Squeeze" -> resized(arguments, hasRows, rank, -1);
            case "Gather" -> gathered(step, arguments, hasRows);
            case "MatMul", "MatMulInteger", "Gemm" ->
                Layout.of(hasRows || leading(step, 1) == Leading.ROWS, larger(rank, rank(step, 1)));
            default ->
                isReduction(step)
                        ? reduced(step, arguments, hasRows, rank)
                        : step.result() == Result.ARITHMETIC ? broadcast(step) : Layout.of(hasRows, rank);
        };
    }

    private static Layout reshaped(Arguments arguments, boolean hasRows) {
        Optional<List<Long>> shape = arguments.numbers(1).filter(dims -> !dims.isEmpty());
        if (shape.isEmpty()) {
            return UNKNOWN;
        }
        long dim = shape.get().get(0);
        boolean keeps = dim == -1 || (dim == 0 && arguments.number("allowzero", 0) == 0);
        return Layout.of(hasRows && keeps, OptionalInt.of(shape.get().size()));
    }

    /** Of dimensions of one element that are put in, or taken out. */
    private static Layout resized(Arguments arguments, boolean hasRows, OptionalInt rank, int sign) {
        Optional<List<Long>> axes = arguments.numbers("axes", 1);
        if (axes.isEmpty() || rank.isEmpty()) {
            return UNKNOWN;
        }
        int after = rank.getAsInt() + sign * axes.get().size();
        int larger = Math.max(rank.getAsInt(), after);
        return Layout.of(
                hasRows && axes.get().stream().noneMatch(axis -> axis == 0 || axis + larger == 0),
                OptionalInt.of(after));
    }

    private Layout gathered(Step step, Arguments arguments, boolean hasRows) {
        OptionalInt data = rank(step, 0);
        OptionalInt indices = rank(step, 1);
        boolean looksUp = leading(step, 0) == Leading.CONSTANT
                && leading(step, 1) == Leading.ROWS
                && arguments.number("axis", 0) == 0;
        return Layout.of(
                hasRows || looksUp,
                data.isPresent() && indices.isPresent()
                        ? OptionalInt.of(data.getAsInt() + indices.getAsInt() - 1)
                        : OptionalInt.empty());
    }

    private Layout reduced(Step step, Arguments arguments, boolean hasRows, OptionalInt rank) {
        Optional<List<Long>> axes = arguments.numbers("axes", 1);
        if (axes.isEmpty()) {
            return UNKNOWN;
        }
        boolean isPlain = rank.isPresent() || axes.get().stream().allMatch(axis -> axis > 0);
        boolean keepsAxes = arguments.number("keepdims", 1) != 0;
        return Layout.of(
                hasRows && isPlain && axes.get().stream().noneMatch(axis -> isFirst(step, 0, axis)),
                keepsAxes || rank.isEmpty()
                        ? rank
                        : OptionalInt.of(rank.getAsInt() - axes.get().size()));
    }

    private Layout broadcast(Step step) {
        OptionalInt rank = OptionalInt.of(0);
        for (int i = 0; i < step.inputs().size(); i++) {
            rank = rank.isEmpty() || rank(step, i).isEmpty() ? OptionalInt.empty() : larger(rank, rank(step, i));
        }
        boolean hasRows = false;
        for (int i = 0; i < step.inputs().size(); i++) {
            if (leading(step, i) == Leading.ROWS) {
                hasRows = true;
                if (rank.isPresent() && !rank(step, i).equals(rank)) {
                    return Layout.of(false, rank); // Its first dimension comes to stand elsewhere.
                }
            }
        }
        return Layout.of(hasRows, rank);
    }

    private static OptionalInt larger(OptionalInt one, OptionalInt other) {
        return one.isPresent() && other.isPresent()
                ? OptionalInt.of(Math.max(one.getAsInt(), other.getAsInt()))
                : OptionalInt.empty();
    }
}
