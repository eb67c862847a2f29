// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import java.util.List;
import org.junit.jupiter.api.Test;

class SourceTextTest {
    private static final String TWO_INPUTS = """
            inputs_info_[0].name = "arg2_1";
            inputs_info_[1].name = "arg3_1";
            int32_t arg2_1_expected_dtype = aoti_torch_dtype_int64();
            if (arg2_1_size[0] < 2) {
            if (arg2_1_size[0] > 64) {
            if (arg2_1_size[1] < 16) {
            if (1 != arg2_1_stride[1]) {
            int32_t arg3_1_expected_dtype = aoti_torch_dtype_bfloat16();
            if (3 != arg3_1_size[2]) {
            if (3 != arg3_1_stride[1]) {
            if (1 != arg3_1_stride[2]) {
            if (x()) { assert_size_stride(arg2_1, {s17, s53}, {s53, 1L}, "input"); }
            if (x()) { assert_size_stride(arg3_1, {s17, 1L + 2L*s53, 3L}, {3L + 6L*s53, 3L, 1L}, "input"); }
            cpp_fused_0((const int64_t*)(arg2_1.data_ptr()), (float*)(arg3_1.data_ptr()));
            """;

    private static List<InputForm> read(String text) {
        return SourceText.read(text).orElseThrow();
    }

    @Test
    void shouldReadDatatypesAndShapes() {
        List<InputForm> forms = read(TWO_INPUTS);
        assertThat(forms).extracting(InputForm::datatype).containsExactly(Datatype.INT64, Datatype.BF16);
        assertThat(forms).extracting(InputForm::shape).containsExactly(Shape.of(-1, -1), Shape.of(-1, -1, 3));
        assertThat(forms).extracting(InputForm::isChanged).containsExactly(false, true);
    }

    @Test
    void shouldCheckWhatFollowsFromOtherInputs() {
        ShapeRules rules = new ShapeRules(read(TWO_INPUTS), List.of("a", "b"));
        check(rules, Shape.of(1, 16), Shape.of(1, 33, 3));
        check(rules, Shape.of(64, 20), Shape.of(64, 41, 3));
        assertRefused(rules, Shape.of(1, 16), Shape.of(1, 34, 3), "'b' has shape [1,34,3], expected 33 in dimension 1");
        assertRefused(rules, Shape.of(2, 16), Shape.of(1, 33, 3), "'b' has shape [1,33,3], expected 2 in dimension 0");
        assertRefused(rules, Shape.of(65, 16), Shape.of(65, 33, 3), "expected 1 to 64 in dimension 0");
        assertRefused(rules, Shape.of(1, 15), Shape.of(1, 31, 3), "expected at least 16 in dimension 1");
        assertRefused(rules, Shape.of(1, 16), Shape.of(1, 33, 4), "expected 3 in dimension 2");
        assertRefused(rules, Shape.of(16), Shape.of(1, 33, 3), "'a' has shape [16], expected [-1,-1]");
    }

    private static void check(ShapeRules rules, Shape first, Shape second) {
        rules.check(position -> position == 0 ? first : second, new long[rules.symbolCount()]);
    }

    private static void assertRefused(ShapeRules rules, Shape first, Shape second, String reason) {
        assertThatThrownBy(() -> check(rules, first, second))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void shouldTellTheBatch() {
        ShapeRules rules = new ShapeRules(read(TWO_INPUTS), List.of("a", "b"));
        assertThat(rules.batchSymbol()).isZero();
        assertThat(rules.largestBatch()).isEqualTo(64);
    }

    @Test
    void shouldNotTakeWhatItDoesNotUnderstand() {
        assertThat(SourceText.read("")).isEmpty();
        assertThat(SourceText.read(TWO_INPUTS.replace("_expected_dtype", "_wanted_dtype")))
                .isEmpty();
        assertThat(SourceText.read(TWO_INPUTS.replace("1L + 2L*s53", "s53 / 2L")))
                .isEmpty();
        assertThat(SourceText.read(TWO_INPUTS
                        .replace("if (3 != arg3_1_stride[1])", "if (1 != arg3_1_stride[1])")
                        .replace("if (1 != arg3_1_stride[2])", "if (8 != arg3_1_stride[2])")))
                .as("another order in memory")
                .isEmpty();
        List<InputForm> unknown = read(TWO_INPUTS.replace("{s17, s53}, {s53, 1L}", "{s17, s54}, {s54, 1L}"));
        assertThat(ShapeRules.areKnown(unknown)).as("s53 is no dimension").isFalse();
    }

    @Test
    void shouldTakeARankFromTheLastStride() {
        List<InputForm> forms = read("""
                inputs_info_[0].name = "a";
                int32_t a_expected_dtype = aoti_torch_dtype_float32();
                if (1 != a_stride[1]) {
                """);
        assertThat(forms.getFirst().shape()).isEqualTo(Shape.of(-1, -1));
    }
}
