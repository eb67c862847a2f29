// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Puts together a graph of an ONNX file, field by field as onnx.proto numbers them. Names of values stand in one text,
 * apart by spaces; {@code -} leaves one out. An operator of another domain than ONNX's has it in front, such as
 * {@code com.microsoft.Gelu}. Not thread-safe.
 */
public final class OnnxGraph {
    /** The element type of 32-bit floating point numbers. */
    public static final int FLOAT = 1;
    /** The element type of unsigned bytes. */
    public static final int UINT8 = 2;
    /** The element type of 32-bit integers. */
    public static final int INT32 = 6;
    /** The element type of 64-bit integers. */
    public static final int INT64 = 7;
    /** The element type of texts. */
    public static final int STRING = 8;
    /** The element type of truth values. */
    public static final int BOOL = 9;

    private static final long IR_VERSION = 8;
    private static final long OPSET = 17;

    // Types of attributes.
    private static final int NUMBER_TYPE = 2;
    private static final int TENSOR_TYPE = 4;
    private static final int GRAPH_TYPE = 5;
    private static final int NUMBERS_TYPE = 7;

    /** Writes the fields of one message. */
    private interface Fields {
        void write(CodedOutputStream out) throws IOException;
    }

    /** An encoded attribute of a node. */
    public static final class Attribute {
        private final byte[] encoded;
        private final Set<String> domains;

        private Attribute(Fields fields, Set<String> domains) {
            this.encoded = message(fields);
            this.domains = domains;
        }
    }

    private final List<byte[]> nodes = new ArrayList<>();
    private final List<byte[]> constants = new ArrayList<>();
    private final List<byte[]> inputs = new ArrayList<>();
    private final List<byte[]> outputs = new ArrayList<>();
    private final List<byte[]> functions = new ArrayList<>();
    private final Set<String> domains = new TreeSet<>();
    private long opset = OPSET;

    /** An integer. */
    public static Attribute attribute(String name, long value) {
        return new Attribute(
                out -> {
                    out.writeString(1, name);
                    out.writeInt64(3, value);
                    out.writeInt32(20, NUMBER_TYPE);
                },
                Set.of());
    }

    /** A list of integers. */
    public static Attribute attributes(String name, long... values) {
        return new Attribute(
                out -> {
                    out.writeString(1, name);
                    for (long value : values) {
                        out.writeInt64(8, value);
                    }
                    out.writeInt32(20, NUMBERS_TYPE);
                },
                Set.of());
    }

    /** A graph: the body of a loop, or a branch. */
    public static Attribute body(String name, OnnxGraph graph) {
        return new Attribute(
                out -> {
                    out.writeString(1, name);
                    out.writeByteArray(6, graph.encoded());
                    out.writeInt32(20, GRAPH_TYPE);
                },
                graph.domains);
    }

    /** A tensor of one dimension, of integers of 64 bits. */
    public static Attribute tensor(String name, long... values) {
        return new Attribute(
                out -> {
                    out.writeString(1, name);
                    out.writeByteArray(5, integerTensor("", values));
                    out.writeInt32(20, TENSOR_TYPE);
                },
                Set.of());
    }

    /** In the body of a function, an integer that the call gives by the name {@code reference}. */
    public static Attribute reference(String name, String reference) {
        return new Attribute(
                out -> {
                    out.writeString(1, name);
                    out.writeInt32(20, NUMBER_TYPE);
                    out.writeString(21, reference);
                },
                Set.of());
    }

    /** The version of ONNX's own operators; 17 where it is not set. */
    public OnnxGraph opset(long version) {
        opset = version;
        return this;
    }

    /**
     * Adds an input.
     *
     * @param dims numbers are sizes, other texts names of variable dimensions, the empty text a variable one without a
     *     name
     */
    public OnnxGraph input(String name, int elementType, String... dims) {
        inputs.add(value(name, elementType, dims));
        return this;
    }

    /** Adds an output, with dimensions as those of {@link #input}. */
    public OnnxGraph output(String name, int elementType, String... dims) {
        outputs.add(value(name, elementType, dims));
        return this;
    }

    /** Adds an output that is no tensor, but a sequence of tensors. */
    public OnnxGraph sequenceOutput(String name, int elementType) {
        byte[] element = message(out -> out.writeByteArray(1, message(type -> type.writeInt32(1, elementType))));
        byte[] sequence = message(out -> out.writeByteArray(4, message(type -> type.writeByteArray(1, element))));
        outputs.add(message(out -> {
            out.writeString(1, name);
            out.writeByteArray(2, sequence);
        }));
        return this;
    }

    /** Adds an initialiser of one dimension, of integers of 64 bits. */
    public OnnxGraph integers(String name, long... values) {
        constants.add(integerTensor(name, values));
        return this;
    }

    private static byte[] integerTensor(String name, long... values) {
        return message(out -> {
            out.writeInt64(1, values.length);
            out.writeInt32(2, INT64);
            for (long value : values) {
                out.writeInt64(7, value);
            }
            out.writeString(8, name);
        });
    }

    /** Adds an initialiser of a truth value. */
    public OnnxGraph truth(String name, boolean value) {
        constants.add(message(out -> {
            out.writeInt32(2, BOOL);
            out.writeInt32(5, value ? 1 : 0);
            out.writeString(8, name);
        }));
        return this;
    }

    /** Adds an initialiser of one number. */
    public OnnxGraph number(String name, float value) {
        constants.add(message(out -> {
            out.writeInt32(2, FLOAT);
            out.writeFloat(4, value);
            out.writeString(8, name);
        }));
        return this;
    }

    /** Adds an initialiser of numbers, which follow from their positions and from its name. */
    public OnnxGraph weights(String name, int... dims) {
        float[] numbers = new float[count(dims)];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = (31 * i + name.hashCode() % 97) % 101 / 101f - 0.5f;
        }
        return numbers(name, numbers, dims);
    }

    /** Adds an initialiser of these numbers. */
    public OnnxGraph numbers(String name, float[] values, int... dims) {
        if (values.length != count(dims)) {
            throw new IllegalArgumentException(
                    values.length + " numbers do not fill dimensions " + Arrays.toString(dims));
        }
        ByteBuffer raw = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        raw.asFloatBuffer().put(values);
        constants.add(message(out -> {
            for (int dim : dims) {
                out.writeInt64(1, dim);
            }
            out.writeInt32(2, FLOAT);
            out.writeString(8, name);
            out.writeByteArray(9, raw.array());
        }));
        return this;
    }

    private static int count(int... dims) {
        return Arrays.stream(dims).reduce(1, Math::multiplyExact);
    }

    /** Adds a node that has no name. */
    public OnnxGraph node(String operator, String inputs, String outputs, Attribute... attributes) {
        return named("", operator, inputs, outputs, attributes);
    }

    /** Adds a node. */
    public OnnxGraph named(String name, String operator, String inputs, String outputs, Attribute... attributes) {
        int point = operator.lastIndexOf('.');
        String domain = point < 0 ? "" : operator.substring(0, point);
        domains.add(domain);
        nodes.add(message(out -> {
            writeNames(out, 1, inputs);
            writeNames(out, 2, outputs);
            out.writeString(3, name);
            out.writeString(4, operator.substring(point + 1));
            for (Attribute attribute : attributes) {
                domains.addAll(attribute.domains);
                out.writeByteArray(5, attribute.encoded);
            }
            out.writeString(7, domain);
        }));
        return this;
    }

    /**
     * Adds a function of the file, which nodes call by its name.
     *
     * @param name with its domain in front
     * @param body its nodes; it has no inputs, outputs or initialisers of its own
     * @param attributes the names of those that calls give
     */
    public OnnxGraph function(String name, String inputs, String outputs, OnnxGraph body, String... attributes) {
        int point = name.lastIndexOf('.');
        domains.addAll(body.domains);
        functions.add(message(out -> {
            out.writeString(1, name.substring(point + 1));
            writeNames(out, 4, inputs);
            writeNames(out, 5, outputs);
            for (String attribute : attributes) {
                out.writeString(6, attribute);
            }
            for (byte[] node : body.nodes) {
                out.writeByteArray(7, node);
            }
            body.writeImports(out, 9);
            out.writeString(10, name.substring(0, Math.max(0, point)));
        }));
        return this;
    }

    private static void writeNames(CodedOutputStream out, int field, String names) throws IOException {
        for (String name : names.isEmpty() ? new String[0] : names.split(" ")) {
            out.writeString(field, name.equals("-") ? "" : name);
        }
    }

    private void writeImports(CodedOutputStream out, int field) throws IOException {
        out.writeByteArray(field, message(own -> own.writeInt64(2, opset)));
        for (String domain : domains) {
            if (!domain.isEmpty()) {
                out.writeByteArray(field, message(other -> {
                    other.writeString(1, domain);
                    other.writeInt64(2, 1);
                }));
            }
        }
    }

    private byte[] encoded() {
        return message(out -> {
            for (byte[] node : nodes) {
                out.writeByteArray(1, node);
            }
            out.writeString(2, "test");
            for (byte[] constant : constants) {
                out.writeByteArray(5, constant);
            }
            for (byte[] input : inputs) {
                out.writeByteArray(11, input);
            }
            for (byte[] output : outputs) {
                out.writeByteArray(12, output);
            }
        });
    }

    /** The bytes of a file. */
    public byte[] model() {
        return message(out -> {
            out.writeInt64(1, IR_VERSION);
            out.writeByteArray(7, encoded());
            writeImports(out, 8);
            for (byte[] function : functions) {
                out.writeByteArray(25, function);
            }
        });
    }

    /** Writes {@code folder/model.onnx}; makes the folder where it is missing. */
    public Path write(Path folder) {
        try {
            Files.createDirectories(folder);
            return Files.write(folder.resolve("model.onnx"), model());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] value(String name, int elementType, String... dims) {
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
