// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import static gatun.wire.WireCursor.VARINT;
import static gatun.wire.WireCursor.delimited;

import gatun.backend.onnxruntime.graph.Graph.Attribute;
import gatun.backend.onnxruntime.graph.Graph.Constant;
import gatun.backend.onnxruntime.graph.Graph.Function;
import gatun.backend.onnxruntime.graph.Graph.Input;
import gatun.backend.onnxruntime.graph.Graph.Model;
import gatun.backend.onnxruntime.graph.Graph.Node;
import gatun.backend.onnxruntime.graph.Graph.OperatorKey;
import gatun.wire.WireCursor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the graph of an ONNX file, by the field numbers of onnx.proto. Weights are passed over. A file that a stranger
 * made costs no more than the limits here: beyond them it is not read.
 */
final class GraphReader {
    /** Messages of all kinds in a file. A large language model has some ten thousand. */
    private static final int MAX_MESSAGES = 500_000;

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

    /** The most numbers of an attribute or a tensor that are kept. */
    private static final int MAX_NUMBERS = 32;

    private static final int INT32 = 6;
    private static final int INT64 = 7;

    private final FileCursor in;
    private int messageCount;
    private int nodeCount;

    private GraphReader(FileCursor in) {
        this.in = in;
    }

    /**
     * Reads a file.
     *
     * @throws UnreadableGraphException for a file that is none of ONNX, or too large to follow
     * @throws IOException when it cannot be read; as {@link java.io.UncheckedIOException}, too
     */
    static Model read(Path path) throws IOException {
        try (FileChannel file = FileChannel.open(path)) {
            return new GraphReader(new FileCursor(file)).model();
        }
    }

    private static int varint(int field) {
        return field << 3 | VARINT;
    }

    private Model model() {
        Optional<Graph> graph = Optional.empty();
        Map<OperatorKey, Function> functions = new HashMap<>();
        long[] opset = {0};
        while (in.hasMore()) {
            int tag = in.tag();
            if (tag == delimited(7)) {
                graph = once(graph, graph(0));
            } else if (tag == delimited(8)) {
                nested(() -> readOpset(opset));
            } else if (tag == delimited(25)) {
                readFunction(functions);
            } else {
                in.skip(tag);
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
            if (tag == delimited(1)) {
                domain = in.name();
            } else if (tag == varint(2)) {
                version = in.varint();
            } else {
                in.skip(tag);
            }
        }
        if (domain.isEmpty() || domain.equals("ai.onnx")) {
            opset[0] = version;
        }
    }

    private void nested(Runnable reading) {
        if (++messageCount > MAX_MESSAGES) {
            throw new UnreadableGraphException(UnreadableGraphException.TOO_LARGE);
        }
        long outer = in.enter();
        reading.run();
        in.leave(outer);
    }

    private void readFunction(Map<OperatorKey, Function> functions) {
        List<String> parameters = new ArrayList<>();
        Map<String, Attribute> defaults = new HashMap<>();
        GraphBuilder body = new GraphBuilder();
        String[] key = {"", "", ""};
        nested(() -> {
            while (in.hasMore()) {
                int tag = in.tag();
                switch (tag) {
                    case 1 << 3 | WireCursor.LENGTH_DELIMITED -> key[1] = in.name();
                    case 4 << 3 | WireCursor.LENGTH_DELIMITED -> parameters.add(in.name());
                    case 5 << 3 | WireCursor.LENGTH_DELIMITED -> body.outputs.add(in.name());
                    case 7 << 3 | WireCursor.LENGTH_DELIMITED -> body.nodes.add(node(1));
                    case 10 << 3 | WireCursor.LENGTH_DELIMITED -> key[0] = in.name();
                    case 11 << 3 | WireCursor.LENGTH_DELIMITED -> readAttribute(defaults, 1);
                    case 13 << 3 | WireCursor.LENGTH_DELIMITED -> key[2] = in.name();
                    default -> in.skip(tag);
                }
            }
        });
        Function function = new Function(List.copyOf(parameters), Map.copyOf(defaults), body.build());
        if (functions.put(new OperatorKey(key[0], key[1], key[2]), function) != null) {
            throw in.malformed("a function is there twice");
        }
    }

    private Graph graph(int depth) {
        if (depth > MAX_DEPTH) {
            throw new UnreadableGraphException(UnreadableGraphException.TOO_LARGE);
        }
        GraphBuilder graph = new GraphBuilder();
        nested(() -> {
            while (in.hasMore()) {
                int tag = in.tag();
                switch (tag) {
                    case 1 << 3 | WireCursor.LENGTH_DELIMITED -> graph.nodes.add(node(depth));
                    case 5 << 3 | WireCursor.LENGTH_DELIMITED -> {
                        NamedTensor tensor = tensor();
                        graph.constants.put(tensor.name(), tensor.constant());
                    }
                    case 11 << 3 | WireCursor.LENGTH_DELIMITED -> {
                        ValueInfo value = valueInfo();
                        graph.inputs.add(new Input(value.name, value.elementType));
                        graph.addRank(value);
                    }
                    case 12 << 3 | WireCursor.LENGTH_DELIMITED -> {
                        ValueInfo value = valueInfo();
                        graph.outputs.add(value.name);
                        graph.addRank(value);
                    }
                    case 13 << 3 | WireCursor.LENGTH_DELIMITED -> graph.addRank(valueInfo());
                    default -> in.skip(tag);
                }
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
        String[] texts = {"", "", "", ""};
        nested(() -> {
            while (in.hasMore()) {
                int tag = in.tag();
                switch (tag) {
                    case 1 << 3 | WireCursor.LENGTH_DELIMITED -> inputs.add(in.name());
                    case 2 << 3 | WireCursor.LENGTH_DELIMITED -> outputs.add(in.name());
                    case 3 << 3 | WireCursor.LENGTH_DELIMITED -> texts[0] = in.name();
                    case 4 << 3 | WireCursor.LENGTH_DELIMITED -> texts[1] = in.name();
                    case 5 << 3 | WireCursor.LENGTH_DELIMITED -> readAttribute(attributes, depth);
                    case 7 << 3 | WireCursor.LENGTH_DELIMITED -> texts[2] = in.name();
                    case 8 << 3 | WireCursor.LENGTH_DELIMITED -> texts[3] = in.name();
                    default -> in.skip(tag);
                }
            }
        });
        OperatorKey key = new OperatorKey(texts[2], texts[1], texts[3]);
        if (Operators.find(key).isPresent()) {
            attributes
                    .entrySet()
                    .removeIf(
                            attribute -> attribute.getValue().graph().isEmpty() && !KEPT.contains(attribute.getKey()));
        }
        return new Node(key, texts[0], List.copyOf(inputs), List.copyOf(outputs), Map.copyOf(attributes));
    }

    private void readAttribute(Map<String, Attribute> attributes, int depth) {
        AttributeBuilder attribute = new AttributeBuilder();
        nested(() -> {
            while (in.hasMore()) {
                int tag = in.tag();
                switch (tag) {
                    case 1 << 3 | WireCursor.LENGTH_DELIMITED -> attribute.name = in.name();
                    case 3 << 3 | VARINT -> attribute.number = Optional.of(in.varint());
                    case 5 << 3 | WireCursor.LENGTH_DELIMITED ->
                        attribute.tensor = once(attribute.tensor, tensor().constant());
                    case 6 << 3 | WireCursor.LENGTH_DELIMITED ->
                        attribute.graph = once(attribute.graph, graph(depth + 1));
                    case 8 << 3 | VARINT -> add(attribute.numbers, in.varint());
                    case 8 << 3 | WireCursor.LENGTH_DELIMITED -> readPacked(attribute.numbers);
                    case 11 << 3 | WireCursor.LENGTH_DELIMITED ->
                        throw new UnreadableGraphException(
                                "the graph has a list of graphs, which no known operator takes");
                    case 21 << 3 | WireCursor.LENGTH_DELIMITED -> attribute.reference = in.name();
                    default -> in.skip(tag);
                }
            }
        });
        attributes.put(attribute.name, attribute.build());
    }

    private void readPacked(List<Long> numbers) {
        nested(() -> {
            while (in.hasMore() && numbers.size() <= MAX_NUMBERS) {
                add(numbers, in.varint());
            }
        });
    }

    private static void add(List<Long> numbers, long number) {
        if (numbers.size() <= MAX_NUMBERS) {
            numbers.add(number);
        }
    }

    private record NamedTensor(String name, Constant constant) {}

    private NamedTensor tensor() {
        TensorBuilder tensor = new TensorBuilder();
        nested(() -> {
            while (in.hasMore()) {
                int tag = in.tag();
                switch (tag) {
                    case 1 << 3 | VARINT -> add(tensor.dims, in.varint());
                    case 1 << 3 | WireCursor.LENGTH_DELIMITED -> readPacked(tensor.dims);
                    case 2 << 3 | VARINT -> tensor.elementType = (int) in.varint();
                    case 5 << 3 | VARINT, 7 << 3 | VARINT -> add(tensor.numbers, in.varint());
                    case 5 << 3 | WireCursor.LENGTH_DELIMITED, 7 << 3 | WireCursor.LENGTH_DELIMITED ->
                        readPacked(tensor.numbers);
                    case 8 << 3 | WireCursor.LENGTH_DELIMITED -> tensor.name = in.name();
                    case 4 << 3 | WireCursor.LENGTH_DELIMITED,
                            6 << 3 | WireCursor.LENGTH_DELIMITED,
                            9 << 3 | WireCursor.LENGTH_DELIMITED,
                            10 << 3 | WireCursor.LENGTH_DELIMITED,
                            11 << 3 | WireCursor.LENGTH_DELIMITED,
                            13 << 3 | WireCursor.LENGTH_DELIMITED ->
                        tensor.addContent(in.beginning(TensorBuilder.CONTENT));
                    default -> in.skip(tag);
                }
            }
        });
        return new NamedTensor(tensor.name, tensor.build());
    }

    private ValueInfo valueInfo() {
        ValueInfo value = new ValueInfo();
        nested(() -> {
            while (in.hasMore()) {
                int tag = in.tag();
                if (tag == delimited(1)) {
                    value.name = in.name();
                } else if (tag == delimited(2)) {
                    nested(() -> readType(value));
                } else {
                    in.skip(tag);
                }
            }
        });
        return value;
    }

    private void readType(ValueInfo value) {
        while (in.hasMore()) {
            int tag = in.tag();
            if (tag == delimited(1)) {
                nested(() -> readTensorType(value));
            } else {
                in.skip(tag);
            }
        }
    }

    private void readTensorType(ValueInfo value) {
        while (in.hasMore()) {
            int tag = in.tag();
            if (tag == varint(1)) {
                value.elementType = (int) in.varint();
            } else if (tag == delimited(2)) {
                value.rank = 0;
                nested(() -> readShape(value));
            } else {
                in.skip(tag);
            }
        }
    }

    private void readShape(ValueInfo value) {
        while (in.hasMore()) {
            int tag = in.tag();
            if (tag == delimited(1)) {
                value.rank++;
            }
            in.skip(tag);
        }
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

    private static final class AttributeBuilder {
        String name = "";
        Optional<Long> number = Optional.empty();
        final List<Long> numbers = new ArrayList<>();
        Optional<Constant> tensor = Optional.empty();
        Optional<Graph> graph = Optional.empty();
        String reference = "";

        Attribute build() {
            return new Attribute(number, List.copyOf(numbers), tensor, graph, reference);
        }
    }

    private static final class TensorBuilder {
        /** So many bytes tell the tensors of a model apart. */
        static final int CONTENT = 256;

        String name = "";
        int elementType;
        final List<Long> dims = new ArrayList<>();
        final List<Long> numbers = new ArrayList<>();
        private final StringBuilder content = new StringBuilder();
        private byte[] raw = {};

        void addContent(byte[] bytes) {
            if (content.length() < 2 * CONTENT) {
                content.append(new String(bytes, StandardCharsets.ISO_8859_1)).append('/');
            }
            raw = bytes;
        }

        Constant build() {
            String text = elementType + ":" + dims + ":" + numbers + ":" + content;
            return new Constant(text, elementType, elements(), dims.size());
        }

        /** The elements, where they are integers and few. */
        private Optional<List<Long>> elements() {
            if ((elementType != INT32 && elementType != INT64) || dims.size() > 1) {
                return Optional.empty();
            }
            long count = dims.isEmpty() ? 1 : dims.get(0);
            if (numbers.size() == count) {
                return Optional.of(List.copyOf(numbers));
            }
            int byteSize = elementType == INT32 ? Integer.BYTES : Long.BYTES;
            if (count > MAX_NUMBERS || raw.length != count * byteSize) {
                return Optional.empty();
            }
            ByteBuffer buffer = ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN);
            List<Long> elements = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                elements.add(elementType == INT32 ? buffer.getInt() : buffer.getLong());
            }
            return Optional.of(List.copyOf(elements));
        }
    }
}
