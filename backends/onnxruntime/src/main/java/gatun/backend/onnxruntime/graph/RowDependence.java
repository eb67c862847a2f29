// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Dataflow.Step;
import gatun.backend.onnxruntime.graph.LeadingDimensions.Leading;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Looks for operators that mix a batch's rows, where that is plain; otherwise says nothing. */
final class RowDependence {
    /** Ends of slices that are as far as any. */
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
}
