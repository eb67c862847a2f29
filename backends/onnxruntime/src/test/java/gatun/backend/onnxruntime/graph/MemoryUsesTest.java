// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import static gatun.testing.OnnxGraph.BOOL;
import static gatun.testing.OnnxGraph.FLOAT;
import static gatun.testing.OnnxGraph.INT32;
import static gatun.testing.OnnxGraph.INT64;
import static gatun.testing.OnnxGraph.STRING;
import static gatun.testing.OnnxGraph.UINT8;
import static gatun.testing.OnnxGraph.attribute;
import static gatun.testing.OnnxGraph.body;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.spi.MemoryUse;
import gatun.testing.OnnxGraph;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemoryUsesTest {
    @TempDir
    Path folder;

    private ModelGraph read(OnnxGraph graph) {
        return ModelGraph.read(graph.write(folder));
    }

    /** A graph whose input {@code ids} goes through {@code operator} and then is what rows are gathered by. */
    private static OnnxGraph lookUp() {
        return new OnnxGraph()
                .input("ids", INT64, "n")
                .output("rows", FLOAT, "n", "4")
                .weights("table", 8, 4)
                .integers("zero", 0)
                .integers("one", 1)
                .integers("end", Long.MAX_VALUE)
                .integers("minusOne", -1)
                .named("embed", "Gather", "table moved", "rows");
    }

    @Test
    void shouldTakeDataInPlace() {
        ModelGraph graph = read(new OnnxGraph()
                .input("X", FLOAT, "n", "4")
                .input("Y", FLOAT, "n", "4")
                .output("PRODUCT", FLOAT, "n", "2")
                .output("SUM", FLOAT, "n", "4")
                .output("DIFFERENCE", FLOAT, "n", "4")
                .weights("w", 4, 2)
                .node("MatMul", "X w", "PRODUCT")
                .node("Add", "X Y", "SUM")
                .node("Sub", "X Y", "DIFFERENCE"));
        assertThat(graph.inputs()).containsOnlyKeys("X", "Y").allSatisfy((name, use) -> assertInPlace(use));
        assertThat(graph.outputs())
                .containsOnlyKeys("PRODUCT", "SUM", "DIFFERENCE")
                .allSatisfy((name, use) -> assertInPlace(use));
        assertThat(graph.input("Z")).isEqualTo(MemoryUse.copied("the graph does not have it"));
    }

    private static void assertInPlace(MemoryUse use) {
        assertThat(use).isEqualTo(MemoryUse.IN_PLACE);
    }

    @ParameterizedTest
    @CsvSource({
        "Identity, ids",
        "Add, ids zero",
        "Sub, ids zero",
        "Mul, one ids",
        "Max, ids zero",
        "Slice, ids zero end",
        "Expand, ids one",
        "Reshape, ids minusOne",
        "Squeeze, ids",
        "Concat, ids",
        "Tile, ids one",
        "Dropout, ids",
        "Flatten, ids",
        "Transpose, ids",
        "ReduceSum, ids",
        "Clip, ids",
    })
    void shouldFollowAValueThroughWhatTheEngineMayTakeOut(String operator, String inputs) {
        ModelGraph graph = read(lookUp().node(operator, inputs, "moved"));
        assertThat(graph.input("ids")).isEqualTo(MemoryUse.copied("Gather 'embed' takes it as indices"));
        assertInPlace(graph.output("rows"));
    }

    @Test
    void shouldNotFollowAValueIntoWhatIsComputedOfIt() {
        ModelGraph graph = read(new OnnxGraph()
                .input("X", FLOAT, "n", "4")
                .output("rows", FLOAT, "n", "4")
                .weights("table", 8, 4)
                .node("ArgMax", "X", "best", attribute("axis", 1))
                .node("Gather", "table best", "rows"));
        assertInPlace(graph.input("X"));
    }

    @ParameterizedTest
    @CsvSource({
        "Resize, x - value, scales",
        "Reshape, x value, shape",
        "Tile, x value, repeats",
        "Expand, x value, shape",
        "Range, value value value, bounds",
        "Slice, x value value, starts",
        "TopK, value k, values to sort",
        "NonZero, value, values to count",
        "Where, value x x, condition",
        "Pad, x value, pads",
        "OneHot, value x x, indices",
        "RoiAlign, x value x, rois",
        "CumSum, x value, axis",
        "ScatterND, x value x, indices",
    })
    void shouldCopyWhatDecides(String operator, String inputs, String role) {
        ModelGraph graph = read(new OnnxGraph()
                .input("value", INT64, "n")
                .input("x", FLOAT, "n")
                .output("y", FLOAT, "n")
                .named("op", operator, inputs, "y"));
        assertThat(graph.input("value")).isEqualTo(MemoryUse.copied(operator + " 'op' takes it as " + role));
    }

    @Test
    void shouldCopyForOperatorsThatItDoesNotKnow() {
        ModelGraph graph = read(new OnnxGraph()
                .input("x", FLOAT, "n")
                .output("y", FLOAT, "n")
                .node("Relu", "x", "positive")
                .node("acme.Foo", "positive", "y"));
        assertThat(graph.input("x")).isEqualTo(MemoryUse.copied("'acme.Foo' is not known"));
        assertThat(graph.output("y")).isEqualTo(MemoryUse.copied("'acme.Foo' is not known"));
    }

    @ParameterizedTest
    @CsvSource({"6, false", "7, false", "1, true", "11, true"})
    void shouldCopyIntegersThatAreDivided(int elementType, boolean isInPlace) {
        ModelGraph graph = read(new OnnxGraph()
                .input("a", elementType, "n")
                .input("b", elementType, "n")
                .output("y", elementType, "n")
                .named("half", "Div", "a b", "y"));
        assertThat(graph.input("b").isInPlace()).isEqualTo(isInPlace);
        assertThat(graph.input("a").isInPlace()).isEqualTo(isInPlace);
    }

    @Test
    void shouldTakeAPictureInPlaceThatIsDividedAsFloatingPointNumbers() {
        ModelGraph graph = read(new OnnxGraph()
                .input("picture", UINT8, "n", "3")
                .output("y", FLOAT, "n", "3")
                .number("scale", 255)
                .node("Cast", "picture", "x", attribute("to", FLOAT))
                .node("Div", "x scale", "y"));
        assertInPlace(graph.input("picture"));
    }

    @ParameterizedTest
    @CsvSource({"2, false", "3, false", "1, true"})
    void shouldCopyQuantizedInputsThatMayBeLookedUp(int elementType, boolean isInPlace) {
        OnnxGraph graph = new OnnxGraph()
                .input("x", elementType, "n", "4")
                .output("y", FLOAT, "n", "4")
                .number("scale", 0.1f);
        String quantized = "x";
        if (elementType == FLOAT) {
            graph.node("QuantizeLinear", "x scale", "q");
            quantized = "q";
        }
        graph.named("dequantize", "DequantizeLinear", quantized + " scale", "d").node("Softmax", "d", "y");
        assertThat(read(graph).input("x"))
                .isEqualTo(
                        isInPlace
                                ? MemoryUse.IN_PLACE
                                : MemoryUse.copied("DequantizeLinear 'dequantize' may look it up in a table"));
    }

    @Test
    void shouldFollowAValueIntoBranchesAndOut() {
        OnnxGraph inside = new OnnxGraph().output("chosen", INT64, "n").node("Identity", "ids", "chosen");
        OnnxGraph other = new OnnxGraph().output("chosen", INT64, "n").node("Add", "other one", "chosen");
        ModelGraph graph = read(lookUp().input("other", INT64, "n")
                .input("which", BOOL)
                .input("beside", INT64, "n")
                .output("y", INT64, "n")
                .node("Add", "beside one", "y")
                .named("either", "If", "which", "moved", body("then_branch", inside), body("else_branch", other)));
        assertThat(graph.input("ids").reason()).isEqualTo("Gather 'embed' takes it as indices");
        assertThat(graph.input("other").reason()).isEqualTo("Gather 'embed' takes it as indices");
        assertThat(graph.input("which").reason()).isEqualTo("If 'either' takes it as condition");
        assertInPlace(graph.input("beside"));
    }

    @Test
    void shouldFollowAValueRoundALoop() {
        OnnxGraph round = new OnnxGraph()
                .input("i", INT64)
                .input("going", BOOL)
                .input("carried", INT64, "n")
                .output("going", BOOL)
                .output("next", INT64, "n")
                .output("found", FLOAT, "n", "4")
                .node("Gather", "table carried", "found")
                .node("Add", "carried one", "next");
        ModelGraph graph = read(new OnnxGraph()
                .input("trips", INT64)
                .input("going", BOOL)
                .input("start", INT64, "n")
                .output("all", FLOAT, "r", "n", "4")
                .output("last", INT64, "n")
                .weights("table", 8, 4)
                .integers("one", 1)
                .named("rounds", "Loop", "trips going start", "last all", body("body", round)));
        assertThat(graph.input("trips").reason()).isEqualTo("Loop 'rounds' takes it as trip count");
        assertThat(graph.input("going").reason()).isEqualTo("Loop 'rounds' takes it as condition");
        assertThat(graph.input("start").reason()).isEqualTo("Gather 'found' takes it as indices");
        assertThat(graph.output("all").reason()).isEqualTo("Loop 'rounds' makes it");
    }

    @Test
    void shouldFollowAValueThroughAScan() {
        OnnxGraph step = new OnnxGraph()
                .input("state", INT64, "n")
                .input("element", INT64, "n")
                .output("next", INT64, "n")
                .output("scanned", INT64, "n")
                .node("Add", "state element", "next")
                .node("Identity", "element", "scanned");
        ModelGraph graph = read(lookUp().input("first", INT64, "n")
                .output("last", INT64, "n")
                .node("Scan", "first ids", "last moved", attribute("num_scan_inputs", 1), body("body", step)));
        assertThat(graph.input("ids").reason()).isEqualTo("Gather 'embed' takes it as indices");
        assertInPlace(graph.input("first"));
    }

    @Test
    void shouldFollowAValueThroughFunctions() {
        OnnxGraph inner = new OnnxGraph().node("Identity", "A", "B");
        OnnxGraph outer = new OnnxGraph().node("local.Same", "X", "M").node("Mul", "M Y", "Z");
        ModelGraph graph = read(lookUp().function("local.Same", "A", "B", inner)
                .function("local.Scaled", "X Y", "Z", outer)
                .node("local.Scaled", "ids one", "moved"));
        assertThat(graph.input("ids").reason()).isEqualTo("Gather 'embed' takes it as indices");
        assertInPlace(graph.output("rows"));
    }

    @Test
    void shouldCopyAllWhereAFunctionHasTheNameOfAnOperator() {
        OnnxGraph gather = new OnnxGraph().node("Gather", "A A", "B");
        ModelGraph graph = read(new OnnxGraph()
                .input("x", FLOAT, "n")
                .output("y", FLOAT, "n")
                .function("com.microsoft.Gelu", "A", "B", gather)
                .node("com.microsoft.Gelu", "x", "y"));
        assertThat(graph.input("x").reason()).isEqualTo("the graph has a function by the name of an operator");
    }

    @Test
    void shouldCopyWhatIsReadAgain() {
        ModelGraph graph = read(new OnnxGraph()
                .input("X", FLOAT, "n", "4")
                .output("first", FLOAT, "n", "4")
                .output("second", FLOAT, "n", "4")
                .weights("w", 4, 4)
                .node("MatMul", "X w", "first")
                .named("next", "MatMul", "first w", "second"));
        assertThat(graph.output("first")).isEqualTo(MemoryUse.copied("MatMul 'next' reads it again"));
        assertInPlace(graph.output("second"));
    }

    @Test
    void shouldCopyWhatABranchReadsAgain() {
        OnnxGraph inside = new OnnxGraph().output("t", FLOAT, "n", "4").named("in", "Relu", "first", "t");
        ModelGraph graph = read(new OnnxGraph()
                .input("X", FLOAT, "n", "4")
                .input("which", BOOL)
                .output("first", FLOAT, "n", "4")
                .output("second", FLOAT, "n", "4")
                .weights("w", 4, 4)
                .node("MatMul", "X w", "first")
                .node("If", "which", "second", body("then_branch", inside), body("else_branch", inside)));
        assertThat(graph.output("first")).isEqualTo(MemoryUse.copied("Relu 'in' reads it again"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Identity", "Relu", "Dropout", "Flatten", "Transpose"})
    void shouldCopyAnOutputWhoseSourceIsReadAgain(String operator) {
        ModelGraph graph = read(new OnnxGraph()
                .input("X", FLOAT, "n", "4")
                .output("y", FLOAT, "n", "4")
                .output("rows", FLOAT, "n", "4")
                .weights("w", 4, 4)
                .node("MatMul", "X w", "product")
                .node(operator, "product", "y")
                .named("other", "Softmax", "product", "rows"));
        assertThat(graph.output("y")).isEqualTo(MemoryUse.copied("Softmax 'other' reads it again"));
        assertInPlace(graph.output("rows"));
    }

    @Test
    void shouldCopyAnOutputWithATwin() {
        ModelGraph graph = read(new OnnxGraph()
                .input("X", FLOAT, "n", "4")
                .output("y", FLOAT, "n", "4")
                .output("z", FLOAT, "n", "4")
                .output("rows", FLOAT, "n", "4", "4")
                .weights("table", 8, 4)
                .weights("w", 4, 4)
                .weights("v", 4, 4)
                .number("none", 0)
                .node("Add", "X none", "moved")
                .named("one", "MatMul", "X w", "y")
                .named("other", "MatMul", "moved w", "same")
                .node("MatMul", "X v", "z")
                .node("Cast", "same", "indices", attribute("to", 7))
                .node("Gather", "table indices", "rows"));
        assertThat(graph.output("y"))
                .isEqualTo(MemoryUse.copied("another node may compute the same as MatMul 'one', and be read again"));
        assertInPlace(graph.output("z"));
        assertInPlace(graph.output("rows"));
    }

    @Test
    void shouldTakeThePartsOfASplitInPlace() {
        ModelGraph graph = read(new OnnxGraph()
                .input("X", FLOAT, "n", "4")
                .output("start", FLOAT, "n")
                .output("end", FLOAT, "n")
                .weights("w", 4, 2)
                .weights("b", 2)
                .integers("last", 1)
                .node("MatMul", "X w", "product")
                .node("Add", "product b", "logits")
                .node("Split", "logits", "s e", attribute("axis", 1))
                .node("Squeeze", "s last", "start")
                .node("Squeeze", "e last", "end"));
        assertThat(graph.outputs()).containsOnlyKeys("start", "end").allSatisfy((name, use) -> assertInPlace(use));
    }

    @Test
    void shouldCopyOutputsOfWhatMayReadThemAgain() {
        ModelGraph graph = read(new OnnxGraph()
                .input("X", FLOAT, "n", "4")
                .input("k", INT64, "1")
                .output("best", FLOAT, "n", "k")
                .output("places", INT64, "n", "k")
                .node("Softmax", "X", "p")
                .named("top", "TopK", "p k", "best places"));
        assertThat(graph.output("best")).isEqualTo(MemoryUse.copied("TopK 'top' makes it"));
        assertThat(graph.output("places")).isEqualTo(MemoryUse.copied("TopK 'top' makes it"));
        assertInPlace(graph.input("X"));
    }

    @Test
    void shouldCopyAnInputThatIsAnOutputAndTextsAlways() {
        ModelGraph graph = read(new OnnxGraph()
                .input("X", FLOAT, "n")
                .input("text", STRING, "n")
                .input("unused", INT32, "n")
                .output("X", FLOAT, "n")
                .output("same", STRING, "n")
                .node("Identity", "text", "same"));
        assertThat(graph.input("X")).isEqualTo(MemoryUse.copied("it is an output, too"));
        assertThat(graph.output("X")).isEqualTo(MemoryUse.copied("no operator makes it"));
        assertThat(graph.input("text")).isEqualTo(MemoryUse.copied("BYTES are always copied"));
        assertInPlace(graph.input("unused"));
    }

    @Test
    void shouldCopyForNegatedConditionsThatTheEngineSwaps() {
        ModelGraph graph = read(new OnnxGraph()
                .input("mask", BOOL, "n")
                .input("X", FLOAT, "n")
                .output("y", FLOAT, "n")
                .node("Not", "mask", "negated")
                .named("masked", "Where", "negated X X", "y"));
        assertThat(graph.input("mask").reason()).isEqualTo("Where 'masked' takes it as condition");
    }

    @Test
    void shouldKnowEachOperatorOnce() {
        assertThat(Operators.names("")).contains("MatMul", "Gather", "TopK").doesNotHaveDuplicates();
    }
}
