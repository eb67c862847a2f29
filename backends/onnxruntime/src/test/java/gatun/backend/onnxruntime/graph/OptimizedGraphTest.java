// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import static gatun.testing.OnnxGraph.BOOL;
import static gatun.testing.OnnxGraph.FLOAT;
import static gatun.testing.OnnxGraph.INT64;
import static gatun.testing.OnnxGraph.attribute;
import static gatun.testing.OnnxGraph.attributes;
import static gatun.testing.OnnxGraph.body;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.backend.onnxruntime.OnnxRuntimeBackend;
import gatun.spi.BackendModel;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.testing.OnnxGraph;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelOptimizationPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the file tells holds for the graph that the engine makes of it: a tensor that is in place by the file is in place
 * by the optimised graph. The engine writes that graph.
 */
class OptimizedGraphTest {
    private static final Path MODELS = Path.of("..", "..", "examples", "models");

    @TempDir
    Path folder;

    private final OnnxRuntimeBackend backend = new OnnxRuntimeBackend();
    private Path optimized;
    private int modelCount;

    @BeforeEach
    void start() {
        optimized = folder.resolve("optimized");
        backend.start(Map.of("model-cache-dir", optimized.toString()));
    }

    @AfterEach
    void close() {
        backend.close();
    }

    /** Has the engine write the graph that it runs of a file, which must be alone in its folder. */
    private Path optimize(Path file, int level) throws IOException {
        Path version = Objects.requireNonNull(file.getParent());
        ModelConfig config = ModelConfig.newBuilder()
                .setName("model")
                .setOptimization(ModelOptimizationPolicy.newBuilder()
                        .setGraph(ModelOptimizationPolicy.Graph.newBuilder().setLevel(level)))
                .build();
        try (BackendModel model = backend.load(backend.complete(config, version), version)) {
            model.newInstance(new InstanceSpec("model_0", 1, Device.CPU)).close();
        }
        return Files.move(files(optimized).get(0), folder.resolve("runs.onnx"), StandardCopyOption.REPLACE_EXISTING);
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    private void assertHolds(Path file) throws IOException {
        ModelGraph told = ModelGraph.read(file);
        for (int level : new int[] {0, 1, -1}) {
            ModelGraph runs = ModelGraph.read(optimize(file, level));
            told.inputs().forEach((name, use) -> {
                if (use.isInPlace()) {
                    assertThat(runs.input(name).reason())
                            .as("input %s at level %d", name, level)
                            .isEmpty();
                }
            });
            told.outputs().forEach((name, use) -> {
                if (use.isInPlace()) {
                    assertThat(runs.output(name).reason())
                            .as("output %s at level %d", name, level)
                            .isEmpty();
                }
            });
        }
    }

    private Path write(OnnxGraph graph) {
        return graph.write(folder.resolve("m" + modelCount++));
    }

    @ParameterizedTest
    @ValueSource(strings = {"simple", "digits", "softmax", "running_sum", "simple_sequence", "simple_string"})
    void shouldHoldForTheExamples(String model) throws IOException {
        Path file = MODELS.resolve(model).resolve("1/model.onnx");
        ModelGraph graph = ModelGraph.read(file);
        assertThat(graph.inputs()).isNotEmpty();
        assertHolds(file);
    }

    private static OnnxGraph lookUp() {
        return new OnnxGraph()
                .input("ids", INT64, "4")
                .output("rows", FLOAT, "4", "4")
                .weights("table", 8, 4)
                .integers("zero", 0)
                .integers("one", 1)
                .integers("four", 4)
                .integers("end", Long.MAX_VALUE)
                .node("Gather", "table moved", "rows");
    }

    @ParameterizedTest
    @CsvSource({
        "Identity, ids",
        "Add, ids zero",
        "Mul, ids one",
        "Sub, ids zero",
        "Div, ids one",
        "Slice, ids zero end",
        "Expand, ids one",
        "Expand, ids four",
        "Reshape, ids four",
        "Concat, ids",
        "Tile, ids one",
        "Cast, ids",
        "Dropout, ids",
        "Flatten, ids",
    })
    void shouldHoldWhereTheEngineTakesNodesOut(String operator, String inputs) throws IOException {
        OnnxGraph.Attribute[] attributes =
                switch (operator) {
                    case "Cast" -> new OnnxGraph.Attribute[] {attribute("to", INT64)};
                    case "Concat", "Flatten" -> new OnnxGraph.Attribute[] {attribute("axis", 0)};
                    default -> new OnnxGraph.Attribute[0];
                };
        OnnxGraph graph = lookUp();
        if (operator.equals("Dropout")) {
            graph.input("x", FLOAT, "4")
                    .node("Dropout", "x", "dropped")
                    .node("Cast", "dropped", "moved", attribute("to", INT64));
            assertHolds(write(graph));
        } else if (operator.equals("Flatten")) {
            graph.node("Flatten", "ids", "flat", attributes).node("Squeeze", "flat zero", "moved");
            assertHolds(write(graph));
        } else {
            graph.node(operator, inputs, "moved", attributes);
            Path file = write(graph);
            assertThat(ModelGraph.read(file).input("ids").isInPlace()).isFalse();
            assertHolds(file);
        }
    }

    /** Proves that this test sees what it is about: the engine does take such nodes out. */
    @Test
    void shouldSeeTheEngineTakeNodesOut() throws IOException {
        Path file = write(new OnnxGraph()
                .input("X", FLOAT, "4", "4")
                .output("y", FLOAT, "4", "4")
                .weights("w", 4, 4)
                .number("none", 0)
                .number("single", 1)
                .integers("zero", 0)
                .integers("one", 1)
                .integers("end", Long.MAX_VALUE)
                .node("Softmax", "X", "p")
                .node("Add", "p none", "a")
                .node("Mul", "a single", "b")
                .node("Slice", "b zero end", "c")
                .node("Expand", "c one", "d")
                .node("Identity", "d", "e")
                .node("MatMul", "e w", "y"));
        Graph graph = GraphReader.read(optimize(file, 0)).graph();
        assertThat(graph.nodes()).extracting(node -> node.key().name()).containsExactlyInAnyOrder("Softmax", "MatMul");
    }

    @Test
    void shouldHoldForAnOutputWhoseTwinIsReadAgain() throws IOException {
        Path file = write(new OnnxGraph()
                .input("X", FLOAT, "4", "4")
                .output("y", FLOAT, "4", "4")
                .output("rows", FLOAT, "4", "4", "4")
                .weights("table", 8, 4)
                .weights("w", 4, 4)
                .number("none", 0)
                .node("MatMul", "X w", "y")
                .node("Add", "X none", "moved")
                .node("MatMul", "moved w", "same")
                .node("Cast", "same", "indices", attribute("to", INT64))
                .node("Gather", "table indices", "rows"));
        assertThat(ModelGraph.read(file).output("y").isInPlace()).isFalse();
        assertHolds(file);
    }

    @Test
    void shouldHoldForBranchesThatTheEngineUnfolds() throws IOException {
        OnnxGraph inside = new OnnxGraph().output("t", INT64, "4").node("Identity", "ids", "t");
        OnnxGraph other = new OnnxGraph().output("e", INT64, "4").node("Add", "ids one", "e");
        assertHolds(write(lookUp().truth("which", true)
                .node("If", "which", "moved", body("then_branch", inside), body("else_branch", other))));
        assertHolds(write(lookUp().input("which", BOOL)
                .node("If", "which", "moved", body("then_branch", inside), body("else_branch", other))));
    }

    @Test
    void shouldHoldForFunctionsThatTheEngineUnfolds() throws IOException {
        assertHolds(write(lookUp().function("local.Same", "A", "B", new OnnxGraph().node("Identity", "A", "B"))
                .function(
                        "local.Twice",
                        "A",
                        "B",
                        new OnnxGraph().node("local.Same", "A", "M").node("local.Same", "M", "B"))
                .node("local.Twice", "ids", "moved")));
    }

    @Test
    void shouldHoldForFusedOperators() throws IOException {
        OnnxGraph attention = new OnnxGraph()
                .input("x", FLOAT, "2", "3", "8")
                .input("mask", INT64, "2", "3")
                .output("y", FLOAT, "2", "3", "8")
                .weights("q", 8, 8)
                .weights("k", 8, 8)
                .weights("v", 8, 8)
                .weights("gamma", 8)
                .weights("beta", 8)
                .weights("wide", 8, 32)
                .weights("bias", 32)
                .weights("narrow", 32, 8)
                .integers("first", 1)
                .number("one", 1)
                .number("far", -10000)
                .number("half", 0.5f)
                .number("root", 1.4142135f)
                .node("Unsqueeze", "mask first", "m1")
                .node("Cast", "m1", "m2", attribute("to", FLOAT))
                .node("Sub", "one m2", "m3")
                .node("Mul", "m3 far", "m4")
                .node("MatMul", "x q", "xq")
                .node("MatMul", "x k", "xk")
                .node("MatMul", "x v", "xv")
                .node("Transpose", "xk", "kt", attributes("perm", 0, 2, 1))
                .node("MatMul", "xq kt", "scores")
                .node("Mul", "scores half", "scaled")
                .node("Add", "scaled m4", "masked")
                .node("Softmax", "masked", "p")
                .node("MatMul", "p xv", "context")
                .node("Add", "context x", "residual")
                .node("LayerNormalization", "residual gamma beta", "normal")
                .node("MatMul", "normal wide", "up")
                .node("Add", "up bias", "biased")
                .node("Div", "biased root", "g1")
                .node("Erf", "g1", "g2")
                .node("Add", "g2 one", "g3")
                .node("Mul", "biased g3", "g4")
                .node("Mul", "g4 half", "gelu")
                .node("MatMul", "gelu narrow", "down")
                .node("Add", "down normal", "sum")
                .node("LayerNormalization", "sum gamma beta", "y");
        Path file = write(attention);
        ModelGraph graph = ModelGraph.read(file);
        assertThat(graph.input("mask").isInPlace()).isTrue();
        assertThat(graph.input("x").isInPlace()).isTrue();
        assertThat(graph.output("y").isInPlace()).isTrue();
        assertHolds(file);

        Path convolutions = write(new OnnxGraph()
                .input("x", FLOAT, "n", "8", "8", "8")
                .output("y", FLOAT, "n", "16", "8", "8")
                .weights("w", 16, 8, 3, 3)
                .weights("b", 16)
                .node("Conv", "x w b", "c", attributes("pads", 1, 1, 1, 1))
                .node("Relu", "c", "y"));
        assertThat(ModelGraph.read(convolutions).input("x").isInPlace()).isTrue();
        assertThat(ModelGraph.read(convolutions).output("y").isInPlace()).isTrue();
        assertHolds(convolutions);
    }

    /** Graphs of operators in any order, of which the engine takes out, merges and fuses many. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldHoldForAnyGraph(long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 0; i < 40; i++) {
            assertHolds(write(new RandomGraph(random).graph()));
        }
    }

    /** Values of 4 x 4 numbers, and of 4 integers, that nodes make of one another. */
    private static final class RandomGraph {
        private final Random random;
        private final List<String> matrices = new ArrayList<>(List.of("a", "b"));
        private final List<String> integers = new ArrayList<>(List.of("ids"));
        private final OnnxGraph graph = new OnnxGraph()
                .input("a", FLOAT, "4", "4")
                .input("b", FLOAT, "4", "4")
                .input("ids", INT64, "4")
                .input("mask", BOOL, "4", "4")
                .weights("table", 8, 4)
                .weights("w", 4, 4)
                .weights("v", 4, 4)
                .number("none", 0)
                .number("single", 1)
                .integers("zero", 0)
                .integers("one", 1)
                .integers("end", Long.MAX_VALUE)
                .integers("shape", 4, 4)
                .integers("four", 4)
                .integers("two", 2);
        private int count;

        RandomGraph(Random random) {
            this.random = random;
        }

        private String any(List<String> values) {
            return values.get(random.nextInt(values.size()));
        }

        OnnxGraph graph() {
            int steps = 3 + random.nextInt(10);
            for (int i = 0; i < steps; i++) {
                if (random.nextInt(3) == 0) {
                    integers.add(ofIntegers("v" + count++));
                } else {
                    matrices.add(ofMatrices("v" + count++));
                }
            }
            // Two or three outputs of what there is, and one that gathers.
            List<String> outputs = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                String output = any(matrices);
                if (output.startsWith("v") && !outputs.contains(output)) {
                    outputs.add(output);
                    graph.output(output, FLOAT, "4", "4");
                }
            }
            if (random.nextBoolean()) {
                graph.node("Gather", "table " + any(integers), "rows").output("rows", FLOAT, "4", "4");
            } else {
                graph.node("TopK", any(matrices) + " two", "best places").output("best", FLOAT, "4", "2");
            }
            return graph;
        }

        private String ofIntegers(String name) {
            String x = any(integers);
            switch (random.nextInt(8)) {
                case 0 -> graph.node("Add", x + " zero", name);
                case 1 -> graph.node("Identity", x, name);
                case 2 -> graph.node("Slice", x + " zero end", name);
                case 3 -> graph.node("Cast", x, name, attribute("to", INT64));
                case 4 ->
                    graph.node("Cast", x, name + "f", attribute("to", FLOAT))
                            .node("Cast", name + "f", name, attribute("to", INT64));
                case 5 -> graph.node("Expand", x + " one", name);
                case 6 -> graph.node("ArgMax", any(matrices), name, attribute("axis", 1), attribute("keepdims", 0));
                default -> graph.node("Unsqueeze", x + " zero", name + "u").node("Squeeze", name + "u zero", name);
            }
            return name;
        }

        private String ofMatrices(String name) {
            String x = any(matrices);
            String y = any(matrices);
            switch (random.nextInt(18)) {
                case 0 -> graph.node("Add", x + " none", name);
                case 1 -> graph.node("Mul", "single " + x, name);
                case 2 -> graph.node("Add", x + " " + y, name);
                case 3 -> graph.node("MatMul", x + " w", name);
                case 4 -> graph.node("MatMul", x + " v", name);
                case 5 -> graph.node("Relu", x, name);
                case 6 -> graph.node("Identity", x, name);
                case 7 -> graph.node("Reshape", x + " shape", name);
                case 8 -> graph.node("Slice", x + " zero end", name);
                case 9 -> graph.node("Expand", x + " shape", name);
                case 10 -> graph.node("Softmax", x, name);
                case 11 -> graph.node("Transpose", x, name + "t").node("Transpose", name + "t", name);
                case 12 ->
                    graph.node("Concat", x + " " + y, name + "c", attribute("axis", 0))
                            .node("Slice", name + "c zero four", name);
                case 13 -> graph.node("Not", "mask", name + "n").node("Where", name + "n " + x + " " + y, name);
                case 14 ->
                    graph.node("Split", x, name + "s " + name + "r", attribute("axis", 1))
                            .node("Concat", name + "s " + name + "r", name, attribute("axis", 1));
                case 15 -> graph.node("Sigmoid", x, name);
                case 16 -> graph.node("Dropout", x, name);
                default -> graph.node("Clip", x + " - single", name);
            }
            return name;
        }
    }
}
