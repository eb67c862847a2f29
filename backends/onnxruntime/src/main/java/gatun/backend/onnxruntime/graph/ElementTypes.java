// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Dataflow.Step;
import gatun.backend.onnxruntime.graph.Graph.Attribute;
import java.util.Set;

/**
 * Numbers of {@code TensorProto.DataType} of values, as far as they follow from inputs and constants. Only for types
 * that a client's memory may have: operators whose outputs are always computed are not looked at.
 */
final class ElementTypes {
    private static final int UNKNOWN = 0;
    private static final int BOOL = 9;

    /** FLOAT, FLOAT16, DOUBLE and BFLOAT16: dividing them by anything traps nothing. */
    private static final Set<Integer> FLOATING = Set.of(1, 10, 11, 16);

    /** INT32, INT64, BOOL, UINT32 and UINT64, of which quantised numbers are made, but none are. */
    private static final Set<Integer> WIDE = Set.of(6, 7, BOOL, 12, 13);

    /** In a loop, a type is known one round later than what it follows from. */
    private static final int ROUNDS = 4;

    private final int[] types;

    ElementTypes(Dataflow flow) {
        types = new int[flow.valueCount()];
        flow.constants.forEach((value, constant) -> types[value] = constant.elementType());
        flow.inputs.forEach((value, input) -> types[value] = input.elementType());
        for (int round = 0; round < ROUNDS; round++) {
            flow.steps.forEach(this::follow);
        }
    }

    boolean mayBeInteger(int value) {
        return !FLOATING.contains(types[value]);
    }

    static boolean mayBeQuantized(int elementType) {
        return !FLOATING.contains(elementType) && !WIDE.contains(elementType);
    }

    private void follow(Step step) {
        int type = result(step);
        for (int output : step.outputs()) {
            if (output != Dataflow.ABSENT && types[output] == UNKNOWN) {
                types[output] = type;
            }
        }
    }

    private int result(Step step) {
        return switch (step.key().name()) {
            case "Cast" -> cast(step);
            case "CastLike", "Where" -> ofInput(step, 1);
            case "Equal", "Greater", "GreaterOrEqual", "IsInf", "IsNaN", "Less", "LessOrEqual" -> BOOL;
            case "QuantizeLinear", "DequantizeLinear" -> UNKNOWN;
            default -> ofInput(step, 0);
        };
    }

    private static int cast(Step step) {
        Attribute to = step.attributes().get("to");
        return to == null ? UNKNOWN : to.number().orElse((long) UNKNOWN).intValue();
    }

    private int ofInput(Step step, int position) {
        if (position >= step.inputs().size() || step.inputs().get(position) == Dataflow.ABSENT) {
            return UNKNOWN;
        }
        return types[step.inputs().get(position)];
    }
}
