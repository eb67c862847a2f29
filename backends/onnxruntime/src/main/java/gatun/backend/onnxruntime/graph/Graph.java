// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A graph of an ONNX file, without weights: the model's, a branch's, a loop's or a function's body. Names are as
 * {@link FileCursor#name} reads them; nodes come after those that they read from; constants are initialisers.
 */
record Graph(
        List<Input> inputs,
        List<String> outputs,
        List<Node> nodes,
        Map<String, Constant> constants,
        Map<String, Integer> ranks) {

    /** An input; {@code elementType} is a number of {@code TensorProto.DataType}, 0 where the file does not tell. */
    record Input(String name, int elementType) {}

    /** A use of an operator or function; an empty name stands for an input left out, or an output not wanted. */
    record Node(
            OperatorKey key,
            String name,
            List<String> inputs,
            List<String> outputs,
            Map<String, Attribute> attributes) {}

    /** Names an operator or function; {@code domain} is empty for ONNX's own, {@code overload} for most. */
    record OperatorKey(String domain, String name, String overload) {
        OperatorKey {
            // ONNX's own domain has two names.
            domain = domain.equals("ai.onnx") ? "" : domain;
        }

        static OperatorKey onnx(String name) {
            return new OperatorKey("", name, "");
        }

        // Those of a record are made when first called, which takes milliseconds of each start.
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof OperatorKey key
                    && name.equals(key.name)
                    && domain.equals(key.domain)
                    && overload.equals(key.overload);
        }

        @Override
        public int hashCode() {
            return 31 * (31 * name.hashCode() + domain.hashCode()) + overload.hashCode();
        }
    }

    /** An attribute, with a list's first {@code numbers}; {@code reference} names the call's that it takes, or "". */
    record Attribute(
            String name,
            Optional<Long> number,
            List<Long> numbers,
            Optional<Constant> tensor,
            Optional<Graph> graph,
            String reference) {}

    /** A tensor; {@code content} (datatype, dimensions, first bytes) is equal for tensors that may be equal. */
    record Constant(String content, int elementType, Optional<List<Long>> numbers, int rank) {}

    /** A function, which nodes call as an operator; {@code body} has no inputs of its own. */
    record Function(List<String> inputs, Map<String, Attribute> defaults, Graph body) {}

    /** All of a file. {@code opset} is the version of ONNX's own operators. */
    record Model(Graph graph, Map<OperatorKey, Function> functions, long opset) {}
}
