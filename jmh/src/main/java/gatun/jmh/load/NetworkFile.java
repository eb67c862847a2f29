// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Writes a fully connected network as an ONNX file, field by field as onnx.proto numbers them: {@code input} FP32 [N,
 * first], a Gemm and a Relu for each layer but the last, which is a Gemm only, {@code output} FP32 [N, last]. The
 * weights are random.
 */
final class NetworkFile {
    private static final long IR_VERSION = 8;
    private static final long OPSET = 17;
    private static final int FLOAT = 1;
    private static final int ATTRIBUTE_FLOAT = 1;

    /** Writes the fields of one message. */
    private interface Fields {
        void write(CodedOutputStream out) throws IOException;
    }

    private NetworkFile() {}

    /** Writes a network of these layer sizes, which takes 4 bytes for each weight. */
    static void write(Path file, int... sizes) throws IOException {
        Random random = new Random(1);
        List<byte[]> nodes = new ArrayList<>();
        List<byte[]> weights = new ArrayList<>();
        String previous = "input";
        for (int layer = 1; layer < sizes.length; layer++) {
            boolean last = layer == sizes.length - 1;
            String weight = "weight" + layer;
            String bias = "bias" + layer;
            weights.add(tensor(weight, random, sizes[layer - 1], sizes[layer]));
            weights.add(tensor(bias, random, sizes[layer]));
            String sum = last ? "output" : "sum" + layer;
            nodes.add(node("Gemm", sum, previous, weight, bias));
            if (!last) {
                previous = "hidden" + layer;
                nodes.add(node("Relu", previous, sum));
            }
        }
        byte[] graph = message(out -> {
            for (byte[] node : nodes) {
                out.writeByteArray(1, node);
            }
            out.writeString(2, "network");
            for (byte[] weight : weights) {
                out.writeByteArray(5, weight);
            }
            out.writeByteArray(11, value("input", sizes[0]));
            out.writeByteArray(12, value("output", sizes[sizes.length - 1]));
        });
        Files.createDirectories(file.getParent());
        Files.write(file, message(out -> {
            out.writeInt64(1, IR_VERSION);
            out.writeByteArray(7, graph);
            out.writeByteArray(8, message(opset -> opset.writeInt64(2, OPSET)));
        }));
    }

    private static byte[] node(String operator, String output, String... inputs) {
        return message(out -> {
            for (String input : inputs) {
                out.writeString(1, input);
            }
            out.writeString(2, output);
            out.writeString(4, operator);
            if (operator.equals("Gemm")) {
                out.writeByteArray(5, message(alpha -> {
                    alpha.writeString(1, "alpha");
                    alpha.writeFloat(2, 1);
                    alpha.writeInt32(20, ATTRIBUTE_FLOAT);
                }));
            }
        });
    }

    private static byte[] tensor(String name, Random random, int... dims) {
        int count = 1;
        for (int dim : dims) {
            count *= dim;
        }
        ByteBuffer data = ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            data.putFloat((float) random.nextGaussian() / dims[0]);
        }
        data.flip();
        return message(out -> {
            for (int dim : dims) {
                out.writeInt64(1, dim);
            }
            out.writeInt32(2, FLOAT);
            out.writeString(8, name);
            out.writeBytes(9, ByteString.copyFrom(data));
        });
    }

    private static byte[] value(String name, int size) {
        byte[] shape = message(out -> {
            out.writeByteArray(1, message(dim -> dim.writeString(2, "N")));
            out.writeByteArray(1, message(dim -> dim.writeInt64(1, size)));
        });
        byte[] tensor = message(out -> {
            out.writeInt32(1, FLOAT);
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
