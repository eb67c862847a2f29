// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Graph.Attribute;
import gatun.backend.onnxruntime.graph.Graph.Constant;
import gatun.backend.onnxruntime.graph.Graph.Function;
import gatun.backend.onnxruntime.graph.Graph.Input;
import gatun.backend.onnxruntime.graph.Graph.Model;
import gatun.backend.onnxruntime.graph.Graph.Node;
import gatun.backend.onnxruntime.graph.Graph.OperatorKey;
import gatun.backend.onnxruntime.graph.TensorReader.NamedTensor;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reads an ONNX file's graph, without weights. Files beyond the limits are not read. */
final class GraphReader {
    /** Nodes of all graphs and functions of a file. */
    private static final int MAX_NODES = 100_000;

    /** Graphs within graphs. */
    static final int MAX_DEPTH = 16;

    /** The attributes of known operators that are kept, beside graphs; a function may take any. */
    private static final Set<String> KEPT = Set.of(
            "allowzero",
            "axes",
            "axis",
            "keepdims",
            "layout",
            "noop_with_empty_axes",
            "num_scan_inputs",
            "perm",
            "time_axis",
            "to",
            "training_mode",
            "transA",
            "value",
            "value_int",
            "value_ints");

    private final FileCursor in;
    private int nodeCount;

    private GraphReader(FileCursor in) {
        this.in = in;
    }

    /** Throws {@link UnreadableGraphException} if it is not ONNX's or too large; I/O errors also as unchecked ones. */
    static Model read(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path)) {
            return new GraphReader(new FileCursor(file)).model();
        }
    }

    private Model model() {
        Optional<Graph> graph = Optional.empty();
        Map<OperatorKey, Function> functions = new HashMap<>();
        long[] opset = {0};
        while (in.hasMore()) {
            int tag = in.tag();
            switch (tag) {
                case Tags.MODEL_GRAPH -> graph = once(graph, graph(0));
                case Tags.MODEL_OPSET -> in.message(() -> readOpset(opset));
                case Tags.MODEL_FUNCTION -> readFunction(functions);
                default -> in.skip(tag);
            }
        }
        return new Model(graph.orElseThrow(() -> in.malformed("it has no graph")), functions, opset[0]);
    }

    /** Protobuf merges a message that comes twice; nobody writes such files but to be read in two ways. */
    private <T> Optional<T> once(Optional<T> before, T now) {
        if (before.isPresent()) {
            throw in.malformed("a message is there twice");
        }
        return Optional.of(now);
    }

    private void readOpset(long[] opset) {
        String domain = "";
        long version = 0;
        while (in.hasMore()) {
            int tag = in.tag();
            switch (tag) {
                case Tags.OPSET_DOMAIN -> domain = in.name();
                case Tags.OPSET_VERSION -> version = in.varint();
                default -> in.skip(tag);
            }
        }
        if (new OperatorKey(domain, "", "").domain().isEmpty()) {
            opset[0] = version;
        }
    }

    private void readFunction(Map<OperatorKey, Function> functions) {
        List<String> parameters = new ArrayList<>();
        Map<String, Attribute> defaults = new HashMap<>();
        GraphBuilder body = new GraphBuilder();
        KeyBuilder key = new KeyBuilder();
        in.fields(tag -> {
            switch (tag) {
                case Tags.FUNCTION_NAME -> key.name = in.name();
                case Tags.FUNCTION_INPUT -> parameters.add(in.name());
                case Tags.FUNCTION_OUTPUT -> body.outputs.add(in.name());
                case Tags.FUNCTION_NODE -> body.nodes.add(node(1));
                case Tags.FUNCTION_DOMAIN -> key.domain = in.name();
                case Tags.FUNCTION_ATTRIBUTE -> readAttribute(defaults, 1);
                case Tags.FUNCTION_OVERLOAD -> key.overload = in.name();
                default -> in.skip(tag);
            }
        });
        Function function = new Function(List.copyOf(parameters), Map.copyOf(defaults), body.build());
        if (functions.put(key.build(), function) != null) {
            throw in.malformed("a function is there twice");
        }
    }

    private Graph graph(int depth) {
        if (depth > MAX_DEPTH) {
            throw new UnreadableGraphException(UnreadableGraphException.TOO_LARGE);
        }
        GraphBuilder graph = new GraphBuilder();
        in.fields(tag -> {
            switch (tag) {
                case Tags.GRAPH_NODE -> graph.nodes.add(node(depth));
                case Tags.GRAPH_INITIALIZER -> {
                    NamedTensor tensor = TensorReader.read(in);
                    graph.constants.put(tensor.name(), tensor.constant());
                }
                case Tags.GRAPH_INPUT -> {
                    ValueInfo value = valueInfo();
                    graph.inputs.add(new Input(value.name, value.elementType));
                    graph.addRank(value);
                }
                case Tags.GRAPH_OUTPUT -> {
                    ValueInfo value = valueInfo();
                    graph.outputs.add(value.name);
                    graph.addRank(value);
                }
                case Tags.GRAPH_VALUE -> graph.addRank(valueInfo());
                default -> in.skip(tag);
            }
        });
        return graph.build();
    }

    private Node node(int depth) {
        if (++nodeCount > MAX_NODES) {
            throw new UnreadableGraphException(UnreadableGraphException.TOO_LARGE);
        }
        List<String> inputs = new ArrayList<>();
        List<String> outputs = new ArrayList<>();
        Map<String, Attribute> attributes = new HashMap<>();
        KeyBuilder builder = new KeyBuilder();
        String[] name = {""};
        in.fields(tag -> {
            switch (tag) {
                case Tags.NODE_INPUT -> inputs.add(in.name());
                case Tags.NODE_OUTPUT -> outputs.add(in.name());
                case Tags.NODE_NAME -> name[0] = in.name();
                case Tags.NODE_OPERATOR -> builder.name = in.name();
                case Tags.NODE_ATTRIBUTE -> readAttribute(attributes, depth);
                case Tags.NODE_DOMAIN -> builder.domain = in.name();
                case Tags.NODE_OVERLOAD -> builder.overload = in.name();
                default -> in.skip(tag);
            }
        });
        OperatorKey key = builder.build();
        if (Operators.find(key).isPresent()) {
            attributes.values().removeIf(attribute -> attribute.graph().isEmpty() && !KEPT.contains(attribute.name()));
        }
        return new Node(key, name[0], List.copyOf(inputs), List.copyOf(outputs), Map.copyOf(attributes));
    }

    private void readAttribute(Map<String, Attribute> attributes, int depth) {
        AttributeBuilder builder = new AttributeBuilder();
        in.fields(tag -> {
            switch (tag) {
                case Tags.ATTRIBUTE_NAME -> builder.name = in.name();
                case Tags.ATTRIBUTE_NUMBER -> builder.number = Optional.of(in.varint());
                case Tags.ATTRIBUTE_TENSOR ->
                    builder.tensor = once(builder.tensor, TensorReader.read(in).constant());
                case Tags.ATTRIBUTE_GRAPH -> builder.graph = once(builder.graph, graph(depth + 1));
                case Tags.ATTRIBUTE_NUMBERS -> TensorReader.add(builder.numbers, in.varint());
                case Tags.ATTRIBUTE_NUMBERS_PACKED -> TensorReader.readPacked(in, builder.numbers);
                case Tags.ATTRIBUTE_GRAPHS ->
                    throw new UnreadableGraphException("the graph has a list of graphs, which no known operator takes");
                case Tags.ATTRIBUTE_REFERENCE -> builder.reference = in.name();
                default -> in.skip(tag);
            }
        });
        if (attributes.put(builder.name, builder.build()) != null) {
            throw in.malformed("an attribute is there twice");
        }
    }

    private ValueInfo valueInfo() {
        ValueInfo value = new ValueInfo();
        in.fields(tag -> {
            switch (tag) {
                case Tags.VALUE_NAME -> value.name = in.name();
                case Tags.VALUE_TYPE -> readType(value);
                default -> in.skip(tag);
            }
        });
        return value;
    }

    private void readType(ValueInfo value) {
        in.fields(tag -> {
            if (tag == Tags.TYPE_TENSOR) {
                readTensorType(value);
            } else {
                in.skip(tag);
            }
        });
    }

    private void readTensorType(ValueInfo value) {
        in.fields(tag -> {
            switch (tag) {
                case Tags.TENSOR_TYPE_ELEMENT -> value.elementType = (int) in.varint();
                case Tags.TENSOR_TYPE_SHAPE -> {
                    value.rank = 0;
                    readShape(value);
                }
                default -> in.skip(tag);
            }
        });
    }

    private void readShape(ValueInfo value) {
        in.fields(tag -> {
            if (tag == Tags.SHAPE_DIM) {
                value.rank++;
            }
            in.skip(tag);
        });
    }

    private static final class ValueInfo {
        String name = "";
        int elementType;

        /** Negative where the file does not tell. */
        int rank = -1;
    }

    private static final class GraphBuilder {
        final List<Input> inputs = new ArrayList<>();
        final List<String> outputs = new ArrayList<>();
        final List<Node> nodes = new ArrayList<>();
        final Map<String, Constant> constants = new HashMap<>();
        final Map<String, Integer> ranks = new HashMap<>();

        void addRank(ValueInfo value) {
            if (value.rank >= 0) {
                ranks.put(value.name, value.rank);
            }
        }

        Graph build() {
            return new Graph(List.copyOf(inputs), List.copyOf(outputs), List.copyOf(nodes), constants, ranks);
        }
    }

    private static final class KeyBuilder {
        String domain = "";
        String name = "";
        String overload = "";

        OperatorKey build() {
            return new OperatorKey(domain, name, overload);
        }
    }

    private static final class AttributeBuilder {
        String name = "";
        Optional<Long> number = Optional.empty();
        final List<Long> numbers = new ArrayList<>();
        Optional<Constant> tensor = Optional.empty();
        Optional<Graph> graph = Optional.empty();
        String reference = "";

        Attribute build() {
            return new Attribute(name, number, List.copyOf(numbers), tensor, graph, reference);
        }
    }
}
