// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A graph of an ONNX file, without its weights: the model's own, that of a branch or loop, or the body of a function.
 * Names are as {@link FileCursor#name} reads them.
 *
 * @param inputs in the file's order
 * @param outputs their names, in the file's order
 * @param nodes in the file's order, in which each comes after those that it reads from
 * @param constants the initialisers, by their names
 * @param ranks the ranks of values that the file gives, by their names
 */
record Graph(
        List<Input> inputs,
        List<String> outputs,
        List<Node> nodes,
        Map<String, Constant> constants,
        Map<String, Integer> ranks) {

    /**
     * An input of a graph.
     *
     * @param elementType a number of {@code TensorProto.DataType}; 0 where the file does not tell
     */
    record Input(String name, int elementType) {}

    /**
     * An operator's use, or a function's.
     *
     * @param name may be empty
     * @param inputs names of values; an empty one is an input that is left out
     * @param outputs names of values; an empty one is an output that nobody wants
     */
    record Node(
            OperatorKey key,
            String name,
            List<String> inputs,
            List<String> outputs,
            Map<String, Attribute> attributes) {}

    /**
     * Names an operator or a function.
     *
     * @param domain empty for ONNX's own
     * @param overload of a function; empty for most
     */
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

    /**
     * An attribute of a node.
     *
     * @param numbers of a list of integers, the first of them
     * @param reference the attribute of the function's call whose value this one takes; empty for one with a value
     */
    record Attribute(
            String name,
            Optional<Long> number,
            List<Long> numbers,
            Optional<Constant> tensor,
            Optional<Graph> graph,
            String reference) {}

    /**
     * A tensor of the file.
     *
     * @param content equal for tensors that may be equal: datatype, dimensions and the first bytes
     */
    record Constant(String content, int elementType, Optional<List<Long>> numbers, int rank) {}

    /**
     * A function of the file, which nodes call as an operator.
     *
     * @param body without inputs of its own
     */
    record Function(List<String> inputs, Map<String, Attribute> defaults, Graph body) {}

    /** All of a file. {@code opset} is the version of ONNX's own operators. */
    record Model(Graph graph, Map<OperatorKey, Function> functions, long opset) {}
}
