// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Writes ONNX files with one operator, field by field as onnx.proto numbers them. Without state. */
public final class OnnxFile {
    /** The element type of 32-bit floating point numbers. */
    public static final int FLOAT = 1;

    private static final long IR_VERSION = 8;
    private static final long OPSET = 17;

    /** Writes the fields of one message. */
    private interface Fields {
        void write(CodedOutputStream out) throws IOException;
    }

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

        private byte[] encoded() {
            byte[] shape = message(out -> {
                for (String dim : dims) {
                    out.writeByteArray(1, message(d -> {
                        if (dim.chars().allMatch(Character::isDigit) && !dim.isEmpty()) {
                            d.writeInt64(1, Long.parseLong(dim));
                        } else if (!dim.isEmpty()) {
                            d.writeString(2, dim);
                        }
                    }));
                }
            });
            byte[] tensor = message(out -> {
                out.writeInt32(1, elementType);
                out.writeByteArray(2, shape);
            });
            return message(out -> {
                out.writeString(1, name);
                out.writeByteArray(2, message(type -> type.writeByteArray(1, tensor)));
            });
        }
    }

    /**
     * Writes {@code folder/model.onnx}: one node {@code op} over all inputs, in order, with an optional integer
     * attribute.
     */
    public static Path write(
            Path folder, String op, List<Value> inputs, List<Value> outputs, String attribute, long value) {
        byte[] node = message(out -> {
            for (Value input : inputs) {
                out.writeString(1, input.name());
            }
            for (Value output : outputs) {
                out.writeString(2, output.name());
            }
            out.writeString(4, op);
            if (!attribute.isEmpty()) {
                out.writeByteArray(5, message(a -> {
                    a.writeString(1, attribute);
                    a.writeInt64(3, value);
                    a.writeInt32(20, 2);
                }));
            }
        });
        return write(folder, List.of(node), inputs, outputs);
    }

    /**
     * Writes {@code folder/model.onnx}: {@code count} nodes that each multiply the input, a square matrix, by what the
     * one before gave.
     */
    public static Path writeProducts(Path folder, Value input, Value output, int count) {
        List<byte[]> nodes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String previous = i == 0 ? input.name() : "product" + i;
            String next = i == count - 1 ? output.name() : "product" + (i + 1);
            nodes.add(message(out -> {
                out.writeString(1, input.name());
                out.writeString(1, previous);
                out.writeString(2, next);
                out.writeString(4, "MatMul");
            }));
        }
        return write(folder, nodes, List.of(input), List.of(output));
    }

    /** Writes {@code folder/model.onnx}: its output is no tensor, but a sequence of its input. */
    public static Path writeSequence(Path folder, Value input, String output) {
        byte[] node = message(out -> {
            out.writeString(1, input.name());
            out.writeString(2, output);
            out.writeString(4, "SequenceConstruct");
        });
        byte[] element =
                message(out -> out.writeByteArray(1, message(type -> type.writeInt32(1, input.elementType()))));
        byte[] sequence = message(out -> out.writeByteArray(4, message(type -> type.writeByteArray(1, element))));
        byte[] value = message(out -> {
            out.writeString(1, output);
            out.writeByteArray(2, sequence);
        });
        return writeGraph(folder, List.of(node), List.of(input), List.of(value));
    }

    private static Path write(Path folder, List<byte[]> nodes, List<Value> inputs, List<Value> outputs) {
        return writeGraph(
                folder, nodes, inputs, outputs.stream().map(Value::encoded).toList());
    }

    private static Path writeGraph(Path folder, List<byte[]> nodes, List<Value> inputs, List<byte[]> outputs) {
        byte[] graph = message(out -> {
            for (byte[] node : nodes) {
                out.writeByteArray(1, node);
            }
            out.writeString(2, "test");
            for (Value input : inputs) {
                out.writeByteArray(11, input.encoded());
            }
            for (byte[] output : outputs) {
                out.writeByteArray(12, output);
            }
        });
        byte[] model = message(out -> {
            out.writeInt64(1, IR_VERSION);
            out.writeByteArray(7, graph);
            out.writeByteArray(8, message(opset -> opset.writeInt64(2, OPSET)));
        });
        try {
            Files.createDirectories(folder);
            return Files.write(folder.resolve("model.onnx"), model);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] message(Fields fields) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        try {
            fields.write(out);
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
