// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Dataflow.Step;
import gatun.backend.onnxruntime.graph.Graph.Attribute;
import gatun.backend.onnxruntime.graph.Graph.Constant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a step is told beside its data: by attributes, or by constant inputs, as newer versions of ONNX do. */
record Arguments(Step step, Map<Integer, Constant> constants) {
    boolean hasInput(int position) {
        return position < step.inputs().size() && step.inputs().get(position) != Dataflow.ABSENT;
    }

    long number(String attribute, long absent) {
        Attribute value = step.attributes().get(attribute);
        return value == null ? absent : value.number().orElse(absent);
    }

    /** The integers of a constant input; empty for none, for one that is not constant, and for long ones. */
    Optional<List<Long>> numbers(int position) {
        if (!hasInput(position)) {
            return Optional.empty();
        }
        return Optional.ofNullable(constants.get(step.inputs().get(position))).flatMap(Constant::numbers);
    }

    /** The integers of an attribute, or of the input at a position; empty as {@link #numbers(int)}. */
    Optional<List<Long>> numbers(String attribute, int position) {
        Attribute value = step.attributes().get(attribute);
        return value == null ? numbers(position) : Optional.of(value.numbers());
    }
}
