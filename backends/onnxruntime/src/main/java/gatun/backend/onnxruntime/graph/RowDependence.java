// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Dataflow.Step;
import gatun.backend.onnxruntime.graph.Operator.Result;
import gatun.backend.onnxruntime.graph.RowDependence.LeadingDimensions.Leading;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Looks for operators that mix a batch's rows, where that is plain; otherwise says nothing. */
final class RowDependence {
    private static final long FAR = Integer.MAX_VALUE;

    /** The first version of ONNX whose Softmax has one axis; before, all from its axis on were one. */
    private static final int OWN_AXIS = 13;

    private final Dataflow flow;
    private final LeadingDimensions dimensions;

    private RowDependence(Dataflow flow) {
        this.flow = flow;
        this.dimensions = new LeadingDimensions(flow);
    }

    /** Why rows may depend on one another, for people; empty where nothing shows that they do. */
    static Optional<String> find(Dataflow flow) {
        return new RowDependence(flow).find();
    }

    private Optional<String> find() {
        for (Step step : flow.steps) {
            Optional<String> mixing = dimensions.isVariable(step) ? mixing(step) : Optional.empty();
            if (mixing.isPresent()) {
                return mixing.map(how -> step.label() + " " + how);
            }
            dimensions.follow(step);
        }
        return Optional.empty();
    }

    /** How a step mixes the rows of its inputs, if it does. */
    private Optional<String> mixing(Step step) {
        Arguments arguments = new Arguments(step, flow.constants);
        boolean hasRows = dimensions.leading(step, 0) == Leading.ROWS;
        return switch (step.key().name()) {
            case "DynamicQuantizeLinear", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM" ->
                when(dimensions.leading(step, 0) != Leading.CONSTANT, "scales by the whole tensor");
            case "MeanVarianceNormalization" ->
                when(
                        hasRows
                                && arguments
                                        .numbers("axes", Integer.MAX_VALUE)
                                        .orElse(List.of(0L))
                                        .contains(0L),
                        "normalises over the first dimension");
            case "ArgMax", "ArgMin" -> along(arguments, 0, "compares along the first dimension");
            case "Softmax", "LogSoftmax", "Hardmax" ->
                along(arguments, flow.opset < OWN_AXIS ? 1 : -1, "normalises over the first dimension");
            case "LayerNormalization", "SimplifiedLayerNormalization", "RMSNormalization", "LpNormalization" ->
                along(arguments, -1, "normalises over the first dimension");
            case "BatchNormalization" ->
                when(hasRows && arguments.number("training_mode", 0) != 0, "normalises over the batch");
            case "TopK" -> along(arguments, -1, "sorts along the first dimension");
            case "Split" -> along(arguments, 0, "divides the first dimension");
            case "Gather", "GatherElements" -> along(arguments, 0, "picks from the first dimension");
            case "Concat" -> joins(arguments);
            case "CumSum" ->
                when(
                        hasRows
                                && arguments
                                        .numbers(1)
                                        .filter(axes -> hasFirst(step, axes))
                                        .isPresent(),
                        "sums along the first dimension");
            case "Slice" -> when(hasRows && cutsFirst(arguments), "cuts the first dimension");
            case "LSTM", "GRU", "RNN" ->
                when(hasRows && arguments.number("layout", 0) == 0, "goes along the first dimension");
            case "ReverseSequence" ->
                when(hasRows && arguments.number("time_axis", 0) == 0, "goes along the first dimension");
            case "Unique", "NonZero", "Compress", "NonMaxSuppression" -> when(true, "has one list for the batch");
            case "MatMul", "MatMulInteger" -> when(multipliesRows(step), "multiplies over the first dimension");
            case "Gemm" ->
                when(
                        (hasRows && arguments.number("transA", 0) != 0) || dimensions.leading(step, 1) == Leading.ROWS,
                        "multiplies over the first dimension");
            default -> LeadingDimensions.isReduction(step) ? reduces(arguments) : Optional.empty();
        };
    }

    private static Optional<String> when(boolean mixes, String how) {
        return mixes ? Optional.of(how) : Optional.empty();
    }

    private Optional<String> along(Arguments arguments, long usualAxis, String how) {
        Step step = arguments.step();
        return when(
                dimensions.leading(step, 0) == Leading.ROWS
                        && dimensions.isFirst(step, 0, arguments.number("axis", usualAxis)),
                how);
    }

    private boolean hasFirst(Step step, List<Long> axes) {
        return axes.stream().anyMatch(axis -> dimensions.isFirst(step, 0, axis));
    }

    private Optional<String> reduces(Arguments arguments) {
        Step step = arguments.step();
        Optional<List<Long>> axes = arguments.numbers("axes", 1);
        if (axes.isEmpty() && arguments.hasInput(1)) {
            return Optional.empty();
        }
        if (axes.orElse(List.of()).isEmpty()) {
            return when(arguments.number("noop_with_empty_axes", 0) == 0, "reduces over all dimensions");
        }
        return when(
                dimensions.leading(step, 0) == Leading.ROWS && hasFirst(step, axes.orElseThrow()),
                "reduces over the first dimension");
    }

    private Optional<String> joins(Arguments arguments) {
        Step step = arguments.step();
        boolean joins = false;
        for (int i = 0; i < step.inputs().size() && step.inputs().size() > 1; i++) {
            joins |= dimensions.leading(step, i) == Leading.ROWS
                    && dimensions.isFirst(step, i, arguments.number("axis", 1));
        }
        return when(joins, "joins along the first dimension");
    }

    private boolean cutsFirst(Arguments arguments) {
        Optional<List<Long>> starts = arguments.numbers(1);
        Optional<List<Long>> ends = arguments.numbers(2);
        Optional<List<Long>> axes = arguments.hasInput(3) ? arguments.numbers(3) : Optional.of(List.of(0L));
        if (starts.isEmpty() || ends.isEmpty() || axes.isEmpty()) {
            return false;
        }
        int count = Math.min(
                axes.get().size(), Math.min(starts.get().size(), ends.get().size()));
        for (int i = 0; i < count; i++) {
            if (dimensions.isFirst(arguments.step(), 0, axes.get().get(i))) {
                return starts.get().get(i) != 0 || ends.get().get(i) < FAR;
            }
        }
        return false;
    }

    /** A matrix product adds up over the last dimension of one side, and over the last but one of the other. */
    private boolean multipliesRows(Step step) {
        OptionalInt right = dimensions.rank(step, 1);
        return (dimensions.leading(step, 0) == Leading.ROWS
                        && dimensions.rank(step, 0).equals(OptionalInt.of(1)))
                || (dimensions.leading(step, 1) == Leading.ROWS && right.isPresent() && right.getAsInt() <= 2);
    }

    /** Follows which values have a batch's rows as their first dimension. Steps come in the model's order. */
    static final class LeadingDimensions {
        /** The first dimension of a value. */
        enum Leading {
            /** Of a value that is the same for every request. */
            CONSTANT,
            ROWS,
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
            flow.constants.forEach((value, constant) ->
                    layouts[value] = new Layout(Leading.CONSTANT, OptionalInt.of(constant.rank())));
            flow.inputs.keySet().stream()
                    .filter(input -> !flow.constants.containsKey(input))
                    .forEach(input -> {
                        OptionalInt rank = layouts[input].rank();
                        layouts[input] = Layout.of(!rank.equals(OptionalInt.of(0)), rank);
                    });
        }

        boolean isVariable(Step step) {
            return step.inputs().stream()
                    .anyMatch(input -> input != Dataflow.ABSENT && layouts[input].leading() != Leading.CONSTANT);
        }

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

        static boolean isReduction(Step step) {
            return step.key().domain().isEmpty() && step.key().name().startsWith("Reduce");
        }

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
                        agrees ? made.leading() : Leading.UNKNOWN,
                        before.rank().isPresent() ? before.rank() : made.rank());
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
}
