// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import static gatun.testing.OnnxGraph.BOOL;
import static gatun.testing.OnnxGraph.FLOAT;
import static gatun.testing.OnnxGraph.INT64;
import static gatun.testing.OnnxGraph.attribute;
import static gatun.testing.OnnxGraph.attributes;
import static gatun.testing.OnnxGraph.body;
import static gatun.testing.OnnxGraph.reference;
import static gatun.testing.OnnxGraph.tensor;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.google.protobuf.CodedOutputStream;
import gatun.spi.MemoryUse;
import gatun.testing.OnnxGraph;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that cannot be followed: all of their tensors are copied, and reading them ends soon and takes little. */
class HostileGraphTest {
    private static final MemoryUse TOO_LARGE = MemoryUse.copied("the graph is too large to follow");

    @TempDir
    Path folder;

    private static OnnxGraph simple() {
        return new OnnxGraph()
                .input("X", FLOAT, "n")
                .output("Y", FLOAT, "n")
                .weights("w", 4)
                .node("Mul", "X w", "Y");
    }

    /** A graph with all that a reader has to look into. */
    private static OnnxGraph elaborate() {
        OnnxGraph branch = new OnnxGraph().output("b", FLOAT, "n").node("Relu", "X", "b");
        OnnxGraph round = new OnnxGraph()
                .input("i", INT64)
                .input("c", BOOL)
                .input("v", FLOAT, "n")
                .output("c", BOOL)
                .output("r", FLOAT, "n")
                .output("s", FLOAT, "n")
                .node("Add", "v X", "r")
                .node("Identity", "r", "s");
        OnnxGraph step = new OnnxGraph()
                .input("p", FLOAT)
                .input("e", FLOAT)
                .output("q", FLOAT)
                .output("f", FLOAT)
                .node("Add", "p e", "q")
                .node("Mul", "p e", "f");
        return simple().integers("axes", 0)
                .truth("which", true)
                .node("If", "which", "t", body("then_branch", branch), body("else_branch", branch))
                .node("Loop", "axes which X", "l m", body("body", round))
                .node("Scan", "X X", "g h", attribute("num_scan_inputs", 1), body("body", step))
                .function("local.F", "A B", "C D", new OnnxGraph().node("Softmax", "A", "C", reference("axis", "a")))
                .node("local.F", "X -", "k", attribute("a", 1))
                .node("acme.Foo", "X", "u", body("graph", branch))
                .node("Constant", "", "ends", tensor("value", 1))
                .node("Slice", "X axes ends", "z")
                .node("Transpose", "X", "turned", attributes("perm", 1, 0))
                .node("ReduceSum", "X axes", "sum");
    }

    private Path write(byte[] bytes) throws IOException {
        return Files.write(folder.resolve("model.onnx"), bytes);
    }

    private static void assertAllCopied(ModelGraph graph, MemoryUse use) {
        assertThat(graph.input("X")).isEqualTo(use);
        assertThat(graph.output("Y")).isEqualTo(use);
        assertThat(graph.dependenceOfRows()).isEmpty();
    }

    @Test
    void shouldCopyAllOfFilesThatAreCutOff() throws IOException {
        byte[] whole = simple().model();
        int graphLength = whole.length - 6; // The version of ONNX stands behind.
        for (int length = 0; length < graphLength; length++) {
            ModelGraph graph = ModelGraph.read(write(Arrays.copyOf(whole, length)));
            assertThat(graph.input("X").isInPlace()).as("of %d bytes", length).isFalse();
        }
        assertThat(ModelGraph.read(write(whole)).input("X").isInPlace()).isTrue();
    }

    @Test
    void shouldSurviveAnyBytes() throws IOException {
        byte[] whole = elaborate().model();
        Random random = new Random(20261129);
        for (int i = 0; i < 1_000; i++) {
            byte[] bytes = whole.clone();
            for (int flips = random.nextInt(4); flips >= 0; flips--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            Path file = write(bytes);
            assertThatCode(() -> ModelGraph.read(file)).doesNotThrowAnyException();
        }
    }

    @Test
    void shouldSayWhyAFileIsNotRead() throws IOException {
        assertAllCopied(
                ModelGraph.read(write(new byte[0])),
                MemoryUse.copied("the graph's file is not one of ONNX: it has no graph"));
        assertThat(ModelGraph.read(folder.resolve("absent.onnx")).input("X").reason())
                .startsWith("the graph's file cannot be read");
        Path own = Files.write(folder.resolve("model.ort"), simple().model());
        assertAllCopied(ModelGraph.read(own), MemoryUse.copied("graphs in ONNX Runtime's own format are not read"));
        byte[] twice = Arrays.copyOf(simple().model(), 2 * simple().model().length);
        System.arraycopy(simple().model(), 0, twice, twice.length / 2, twice.length / 2);
        assertAllCopied(
                ModelGraph.read(write(twice)),
                MemoryUse.copied("the graph's file is not one of ONNX: a message is there twice"));
    }

    @Test
    void shouldPassOverWeightsOfGigabytes() throws IOException {
        long weights = 3L << 30;
        byte[] node = simple().model();
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(head);
        // An attribute of the model that no reader knows, and then all the rest.
        out.writeTag(500, 2);
        out.writeUInt64NoTag(weights);
        out.flush();
        Path file = write(head.toByteArray());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(node), channel.size() + weights);
        }
        ModelGraph graph = ModelGraph.read(file);
        assertThat(graph.input("X").isInPlace()).isTrue();
        assertThat(graph.output("Y").isInPlace()).isTrue();
    }

    @Test
    void shouldNotFollowTooManyNodes() {
        OnnxGraph graph = simple();
        for (int i = 0; i < 100_001; i++) {
            graph.node("Relu", "X", "r" + i);
        }
        assertAllCopied(ModelGraph.read(graph.write(folder)), TOO_LARGE);
    }

    @Test
    void shouldNotFollowFunctionsThatCallOneAnotherWithoutEnd() {
        OnnxGraph graph = simple();
        for (int i = 0; i < 12; i++) {
            OnnxGraph calls = new OnnxGraph();
            for (int j = 0; j < 10; j++) {
                calls.node("local.F" + (i + 1), "", "");
            }
            graph.function("local.F" + i, "", "", calls);
        }
        graph.function("local.F12", "", "", new OnnxGraph());
        graph.node("local.F0", "", "");
        assertAllCopied(ModelGraph.read(graph.write(folder)), TOO_LARGE);
    }

    @Test
    void shouldNotFollowAFunctionThatCallsItself() {
        OnnxGraph graph = simple().function("local.F", "A", "B", new OnnxGraph().node("local.F", "A", "B"))
                .node("local.F", "X", "z");
        assertAllCopied(ModelGraph.read(graph.write(folder)), TOO_LARGE);
    }

    @Test
    void shouldNotFollowGraphsThatAreNestedDeeply() {
        OnnxGraph inner = new OnnxGraph().output("o", FLOAT, "n").node("Relu", "X", "o");
        for (int depth = 0; depth < 40; depth++) {
            OnnxGraph within = inner;
            inner = new OnnxGraph()
                    .output("o", FLOAT, "n")
                    .node("If", "which", "o", body("then_branch", within), body("else_branch", simple()));
        }
        OnnxGraph graph = simple().input("which", BOOL)
                .node("If", "which", "z", body("then_branch", inner), body("else_branch", inner));
        assertAllCopied(ModelGraph.read(graph.write(folder)), TOO_LARGE);
    }

    @Test
    void shouldNotKeepLongNames() {
        assertAllCopied(
                ModelGraph.read(
                        simple().named("n".repeat(5_000), "Relu", "X", "z").write(folder)),
                TOO_LARGE);
    }

    @Test
    void shouldNotKeepEndlessNames() throws IOException {
        byte[] names = new byte[3_000_000];
        for (int i = 0; i < names.length; i += 3) {
            names[i] = 1 << 3 | 2;
            names[i + 1] = 1;
            names[i + 2] = 'X';
        }
        assertAllCopied(ModelGraph.read(write(modelOfNode(names, 2))), TOO_LARGE);
    }

    @Test
    void shouldShowNamesShortAndWithoutControlCharacters() {
        ModelGraph graph = ModelGraph.read(simple().named("a\u001b[31m\n" + "b".repeat(200), "acme.Foo\u0007", "X", "z")
                .write(folder));
        assertThat(graph.input("X").reason()).isEqualTo("'acme.Foo?' is not known");
        graph = ModelGraph.read(simple().named("a\u001b[31m\n" + "b".repeat(200), "TopK", "X", "z")
                .write(folder));
        assertThat(graph.input("X").reason())
                .isEqualTo("TopK 'a?[31m?" + "b".repeat(93) + "...' takes it as values to sort");
    }

    @Test
    void shouldKeepNamesApartThatAreNoText() throws IOException {
        // Two inputs whose names are no valid UTF-8: as texts they are one.
        byte[] bytes = simple().input("\u00f1", FLOAT, "n")
                .input("\u00f2", FLOAT, "n")
                .node("Relu", "\u00f1", "z")
                .node("TopK", "\u00f2", "t")
                .model();
        for (int i = 0; i + 1 < bytes.length; i++) {
            if ((bytes[i] & 0xff) == 0xc3) {
                bytes[i] = (byte) 0xff;
            }
        }
        ModelGraph graph = ModelGraph.read(write(bytes));
        assertThat(graph.input("X").isInPlace()).isTrue();
        assertThat(graph.input("\ufffd\ufffd").reason()).isEqualTo("TopK 't' takes it as values to sort");
    }

    /** A model of one node with these fields, which come again and again. */
    private static byte[] modelOfNode(byte[] fields, int times) throws IOException {
        ByteArrayOutputStream node = new ByteArrayOutputStream();
        for (int i = 0; i < times; i++) {
            node.writeBytes(fields);
        }
        return wrapped(7, wrapped(1, node.toByteArray()));
    }

    private static byte[] wrapped(int field, byte[] message) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream out = CodedOutputStream.newInstance(bytes);
        out.writeByteArray(field, message);
        out.flush();
        return bytes.toByteArray();
    }
}
