// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** Writes ONNX files with one operator. Without state. */
public final class OnnxFile {
    /** The element type of 32-bit floating point numbers. */
    public static final int FLOAT = OnnxGraph.FLOAT;

    private OnnxFile() {}

    /**
     * A tensor of the graph.
     *
     * @param name its name
     * @param elementType a number of {@code TensorProto.DataType}
     * @param dims numbers are sizes, other texts names of variable dimensions, the empty text a variable one without a
     *     name
     */
    public record Value(String name, int elementType, List<String> dims) {
        /** Keeps a copy of the dimensions. */
        public Value {
            dims = List.copyOf(dims);
        }

        /** A tensor with these dimensions. */
        public Value(String name, int elementType, String... dims) {
            this(name, elementType, List.of(dims));
        }
    }

    /**
     * Writes {@code folder/model.onnx}: one node {@code op} over all inputs, in order, with an optional integer
     * attribute.
     */
    public static Path write(
            Path folder, String op, List<Value> inputs, List<Value> outputs, String attribute, long value) {
        OnnxGraph graph = graph(inputs, outputs);
        if (attribute.isEmpty()) {
            graph.node(op, names(inputs), names(outputs));
        } else {
            graph.node(op, names(inputs), names(outputs), OnnxGraph.attribute(attribute, value));
        }
        return graph.write(folder);
    }

    /**
     * Writes {@code folder/model.onnx}: {@code count} nodes that each multiply the input, a square matrix, by what the
     * one before gave.
     */
    public static Path writeProducts(Path folder, Value input, Value output, int count) {
        OnnxGraph graph = graph(List.of(input), List.of(output));
        for (int i = 0; i < count; i++) {
            String previous = i == 0 ? input.name() : "product" + i;
            String next = i == count - 1 ? output.name() : "product" + (i + 1);
            graph.node("MatMul", input.name() + " " + previous, next);
        }
        return graph.write(folder);
    }

    /** Writes {@code folder/model.onnx}: its output is no tensor, but a sequence of its input. */
    public static Path writeSequence(Path folder, Value input, String output) {
        return graph(List.of(input), List.of())
                .sequenceOutput(output, input.elementType())
                .node("SequenceConstruct", input.name(), output)
                .write(folder);
    }

    private static OnnxGraph graph(List<Value> inputs, List<Value> outputs) {
        OnnxGraph graph = new OnnxGraph();
        inputs.forEach(input ->
                graph.input(input.name(), input.elementType(), input.dims().toArray(String[]::new)));
        outputs.forEach(output ->
                graph.output(output.name(), output.elementType(), output.dims().toArray(String[]::new)));
        return graph;
    }

    private static String names(List<Value> values) {
        return values.stream().map(Value::name).collect(Collectors.joining(" "));
    }
}
