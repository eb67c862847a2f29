// SPDX-License-Identifier: Apache-2.0
package gatun.server.sharedmemory;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes small ONNX models, by the numbers of the fields in {@code onnx.proto}. Used once, by one thread. */
final class OnnxFile {
    /** {@code TensorProto.DataType}. */
    static final int FLOAT = 1;

    static final int INT64 = 7;

    private static final long IR_VERSION = 8;
    private static final long OPSET = 17;

    private final Message graph = new Message().text(2, "g");

    /** Adds an input of fixed dimensions; negative ones may be any. */
    OnnxFile input(String name, int type, long... dims) {
        graph.message(11, tensor(name, type, dims));
        return this;
    }

    /** Adds an output; otherwise as {@link #input}. */
    OnnxFile output(String name, int type, long... dims) {
        graph.message(12, tensor(name, type, dims));
        return this;
    }

    /** Adds a constant of floats. */
    OnnxFile constant(String name, float[] values, long... dims) {
        ByteBuffer raw = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            raw.putFloat(value);
        }
        return constant(name, FLOAT, raw.array(), dims);
    }

    /** Adds a constant of integers. */
    OnnxFile constant(String name, long[] values, long... dims) {
        ByteBuffer raw = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            raw.putLong(value);
        }
        return constant(name, INT64, raw.array(), dims);
    }

    private OnnxFile constant(String name, int type, byte[] raw, long... dims) {
        Message tensor = new Message();
        for (long dim : dims) {
            tensor.number(1, dim);
        }
        graph.message(5, tensor.number(2, type).text(8, name).bytes(9, raw));
        return this;
    }

    /** Adds an operator; inputs and outputs are names with commas between them, where an empty one is left out. */
    OnnxFile node(String operator, String inputs, String outputs, String... textAttributes) {
        Message node = new Message();
        for (String input : inputs.split(",", -1)) {
            node.text(1, input);
        }
        for (String output : outputs.split(",", -1)) {
            node.text(2, output);
        }
        node.text(3, operator + outputs).text(4, operator);
        for (int i = 0; i < textAttributes.length; i += 2) {
            node.message(
                    5,
                    new Message()
                            .text(1, textAttributes[i])
                            .text(4, textAttributes[i + 1])
                            .number(20, 3));
        }
        graph.message(1, node);
        return this;
    }

    /** Writes the model to a repository. */
    void write(Path repository, String name) throws IOException {
        Path folder = Files.createDirectories(repository.resolve(name).resolve("1"));
        Message model = new Message()
                .number(1, IR_VERSION)
                .message(7, graph)
                .message(8, new Message().text(1, "").number(2, OPSET));
        Files.write(folder.resolve("model.onnx"), model.out.toByteArray());
    }

    private static Message tensor(String name, int type, long... dims) {
        Message shape = new Message();
        for (int i = 0; i < dims.length; i++) {
            Message dim = new Message();
            shape.message(1, dims[i] < 0 ? dim.text(2, name + i) : dim.number(1, dims[i]));
        }
        Message tensor = new Message().number(1, type).message(2, shape);
        return new Message().text(1, name).message(2, new Message().message(1, tensor));
    }

    /** A message of protobuf. */
    private static final class Message {
        private static final int LENGTH_DELIMITED = 2;

        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        private Message number(int field, long value) {
            varint((long) field << 3);
            varint(value);
            return this;
        }

        private Message text(int field, String text) {
            return bytes(field, text.getBytes(StandardCharsets.UTF_8));
        }

        private Message message(int field, Message message) {
            return bytes(field, message.out.toByteArray());
        }

        private Message bytes(int field, byte[] bytes) {
            varint(((long) field << 3) | LENGTH_DELIMITED);
            varint(bytes.length);
            out.writeBytes(bytes);
            return this;
        }

        private void varint(long value) {
            long left = value;
            while ((left & ~0x7FL) != 0) {
                out.write((int) ((left & 0x7F) | 0x80));
                left >>>= 7;
            }
            out.write((int) left);
        }
    }
}
