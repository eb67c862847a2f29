// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import static gatun.testing.OnnxGraph.FLOAT;
import static gatun.testing.OnnxGraph.INT64;
import static gatun.testing.OnnxGraph.attribute;
import static gatun.testing.OnnxGraph.attributes;
import static gatun.testing.OnnxGraph.body;
import static gatun.testing.OnnxGraph.reference;
import static gatun.testing.OnnxGraph.tensor;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.OnnxGraph;
import gatun.testing.OnnxGraph.Attribute;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RowDependenceTest {
    @TempDir
    Path folder;

    private Optional<String> dependence(OnnxGraph graph) {
        return ModelGraph.read(graph.write(folder)).dependenceOfRows();
    }

    /** A graph of a batch of rows of four numbers. */
    private static OnnxGraph rows() {
        return new OnnxGraph()
                .input("X", FLOAT, "n", "4")
                .output("y", FLOAT, "n", "m")
                .weights("w", 4, 4)
                .number("one", 1)
                .integers("zero", 0)
                .integers("second", 1)
                .integers("last", -1)
                .integers("firstOfTwo", -2)
                .integers("far", Long.MAX_VALUE)
                .integers("merged", -1, 2)
                .integers("other", 4, -1);
    }

    @ParameterizedTest
    @CsvSource({
        "DynamicQuantizeLinear, X, scales by the whole tensor",
        "com.microsoft.DynamicQuantizeMatMul, X w one, scales by the whole tensor",
        "ReduceMax, X, reduces over all dimensions",
        "ReduceSum, X zero, reduces over the first dimension",
        "ReduceSum, X firstOfTwo, reduces over the first dimension",
        "ArgMax, X, compares along the first dimension",
        "Concat, X X, ",
        "Split, X, divides the first dimension",
        "CumSum, X zero, sums along the first dimension",
        "CumSum, X firstOfTwo, sums along the first dimension",
        "Slice, X second far, cuts the first dimension",
        "Slice, X zero second zero, cuts the first dimension",
        "Slice, X zero far zero, ",
        "Slice, X zero second second, ",
        "Unique, X, has one list for the batch",
        "NonZero, X, has one list for the batch",
        "MeanVarianceNormalization, X, normalises over the first dimension",
        "LSTM, X w w, goes along the first dimension",
        "MatMul, w X, multiplies over the first dimension",
        "Gemm, w X, multiplies over the first dimension",
        "ReduceSum, X second, ",
        "ReduceSum, X last, ",
        "CumSum, X last, ",
        "MatMul, X w, ",
        "Gemm, X w, ",
        "Softmax, X, ",
        "TopK, X second, ",
        "LayerNormalization, X one, ",
        "BatchNormalization, X one one one one, ",
    })
    void shouldNameWhatMixesRows(String operator, String inputs, String how) {
        String name = operator.substring(operator.lastIndexOf('.') + 1);
        assertThat(dependence(rows().named("op", operator, inputs, "y")))
                .isEqualTo(Optional.ofNullable(how).map(text -> name + " 'op' " + text));
    }

    @ParameterizedTest
    @CsvSource({
        "Softmax, X, normalises over the first dimension",
        "ArgMin, X, compares along the first dimension",
        "TopK, X second, sorts along the first dimension",
        "Gather, X zero, picks from the first dimension",
        "Concat, X w, joins along the first dimension",
        "LayerNormalization, X one, normalises over the first dimension",
    })
    void shouldLookAtTheAxis(String operator, String inputs, String how) {
        for (long axis : new long[] {0, -2}) {
            assertThat(dependence(rows().named("op", operator, inputs, "y", attribute("axis", axis))))
                    .contains(operator + " 'op' " + how);
        }
        for (long axis : new long[] {1, -1}) {
            assertThat(dependence(rows().named("op", operator, inputs, "y", attribute("axis", axis))))
                    .isEmpty();
        }
    }

    @Test
    void shouldLookAtAxesThatAreAttributesOrNoneAtAll() {
        assertThat(dependence(rows().named("max", "ReduceMax", "X", "y", attributes("axes", 0))))
                .contains("ReduceMax 'max' reduces over the first dimension");
        assertThat(dependence(rows().named("max", "ReduceMax", "X", "y", attributes("axes", 1))))
                .isEmpty();
        assertThat(dependence(rows().named("max", "ReduceMax", "X", "y", attribute("noop_with_empty_axes", 1))))
                .isEmpty();
        assertThat(dependence(rows().node("Constant", "", "axes", tensor("value", 0))
                        .named("max", "ReduceMax", "X axes", "y")))
                .contains("ReduceMax 'max' reduces over the first dimension");
    }

    @Test
    void shouldTakeSoftmaxOfOldVersionsAsTheyWere() {
        assertThat(dependence(rows().opset(11).node("Softmax", "X", "y"))).isEmpty();
        assertThat(dependence(rows().opset(11).named("all", "Softmax", "X", "y", attribute("axis", 0))))
                .contains("Softmax 'all' normalises over the first dimension");
    }

    @ParameterizedTest
    @CsvSource({
        "Relu, X, true",
        "MatMul, X w, true",
        "Mul, X one, true",
        "Add, X w, true",
        "Concat, X X, true",
        "Reshape, X merged, true",
        "Reshape, X other, false",
        "Flatten, X, true",
        "Transpose, X, false",
        "Unsqueeze, X zero, false",
        "Unsqueeze, X second, true",
        "Unsqueeze, X last, true",
        "ReduceSum, X second, true",
        "Cast, X, true",
        "Dropout, X, true",
        "Shape, X, false",
    })
    void shouldFollowTheRows(String operator, String inputs, boolean hasRows) {
        Attribute[] attributes = operator.equals("Cast") ? new Attribute[] {attribute("to", 1)} : new Attribute[0];
        assertThat(dependence(rows().node(operator, inputs, "moved", attributes)
                                .named("max", "ReduceMax", "moved", "y", attributes("axes", 0)))
                        .isPresent())
                .isEqualTo(hasRows);
    }

    @Test
    void shouldFollowRowsThroughLookUpsAndTranspositions() {
        OnnxGraph lookUp = new OnnxGraph()
                .input("ids", INT64, "n", "t")
                .output("y", FLOAT, "n", "4", "t")
                .weights("table", 8, 4)
                .node("Gather", "table ids", "rows")
                .node("Transpose", "rows", "turned", attributes("perm", 0, 2, 1))
                .named("normal", "LayerNormalization", "turned turned", "y", attribute("axis", -3));
        assertThat(dependence(lookUp)).contains("LayerNormalization 'normal' normalises over the first dimension");
    }

    @Test
    void shouldNotTakeShapesForRows() {
        assertThat(dependence(rows().node("Shape", "X", "shape")
                        .node("ReduceProd", "shape", "count")
                        .node("Gather", "shape zero", "n")
                        .node("Concat", "n n", "dims", attribute("axis", 0))
                        .node("Reshape", "X dims", "y")))
                .isEmpty();
    }

    @Test
    void shouldLookIntoBranchesAndFunctions() {
        OnnxGraph inside = new OnnxGraph().output("t", FLOAT, "n", "4").named("in", "ReduceMax", "X", "t");
        assertThat(dependence(rows().truth("which", true)
                        .node("If", "which", "y", body("then_branch", inside), body("else_branch", inside))))
                .contains("ReduceMax 'in' reduces over all dimensions");

        OnnxGraph function = new OnnxGraph().named("soft", "Softmax", "A", "B", reference("axis", "over"));
        assertThat(dependence(rows().function("local.Soft", "A", "B", function, "over")
                        .node("local.Soft", "X", "y", attribute("over", 0))))
                .contains("Softmax 'soft' normalises over the first dimension");
        assertThat(dependence(rows().function("local.Soft", "A", "B", function, "over")
                        .node("local.Soft", "X", "y", attribute("over", 1))))
                .isEmpty();
    }

    @Test
    void shouldSayNothingOfFilesThatAreNotRead() {
        assertThat(ModelGraph.unread("for a test").dependenceOfRows()).isEmpty();
    }
}
