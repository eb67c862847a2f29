// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.backend.cuda.ModelPlan.Argument;
import gatun.backend.cuda.ModelPlan.KernelPlan;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.wire.inference.DataType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelPlanReaderTest {
    private static List<Long> values(List<Formula> formulas, Sizes sizes) {
        return formulas.stream().map(formula -> formula.value(sizes)).toList();
    }

    @Test
    void shouldReadOneKernel() {
        ModelPlan plan = Configurations.adding().plan();
        Sizes sizes = new Sizes(plan.tensors().size());
        sizes.batch(40);
        sizes.shape(0, Datatype.INT32, Shape.of(40, 16));
        sizes.shape(1, Datatype.INT32, Shape.of(40, 16));

        KernelPlan kernel = plan.kernels().getFirst();
        assertThat(plan.kernels()).hasSize(1);
        assertThat(plan.batching()).isTrue();
        assertThat(kernel.function()).isEqualTo("add");
        assertThat(values(kernel.grid(), sizes)).containsExactly(3L, 1L, 1L);
        assertThat(values(kernel.block(), sizes)).containsExactly(256L, 1L, 1L);
        assertThat(kernel.sharedMemory().value(sizes)).isZero();
        assertThat(kernel.arguments().subList(0, 3))
                .containsExactly(new Argument.Address(0), new Argument.Address(1), new Argument.Address(2));
        assertThat(kernel.arguments().get(3)).isInstanceOfSatisfying(Argument.Scalar.class, scalar -> {
            assertThat(scalar.type()).isEqualTo(ScalarType.INT32);
            assertThat(scalar.value().value(sizes)).isEqualTo(640);
        });
        assertThat(values(plan.outputShapes().getFirst(), sizes)).containsExactly(40L, 16L);
    }

    @Test
    void shouldReadKernelsInARowWithScratchMemoryAndVariableShapes() {
        ModelPlan plan = new Configurations()
                .input("IMAGE", DataType.TYPE_UINT8, -1, -1, 3)
                .output("OUT", DataType.TYPE_FP32, 3, -1, -1)
                .parameter("kernels", "first, second,first")
                .parameter("first.function", "_Z5firstPKhPf")
                .parameter("first.grid", "ceil(dim(IMAGE, 1) / 16), ceil(dim(IMAGE, 0) / 16)")
                .parameter("first.block", "16, 16, 1")
                .parameter("first.shared_memory", "3 * 4 * 256")
                .parameter("first.arguments", "IMAGE, tmp, float 0.5, double -1e-3, float 255, uint8 7")
                .parameter("second.grid", "max(1, bytes(tmp) / 4096)")
                .parameter("second.block", "128")
                .parameter("second.arguments", "tmp, \"OUT\", int64 bytes(OUT)")
                .parameter("scratch.tmp", "bytes(OUT) + 64")
                .parameter("shape.OUT", "dim(IMAGE, 2), dim(IMAGE, 0), dim(IMAGE, 1)")
                .plan();
        Sizes sizes = new Sizes(plan.tensors().size());
        sizes.shape(0, Datatype.UINT8, Shape.of(20, 40, 3));
        sizes.shape(1, Datatype.FP32, Shape.of(3, 20, 40));

        assertThat(plan.batching()).isFalse();
        assertThat(values(plan.outputShapes().getFirst(), sizes)).containsExactly(3L, 20L, 40L);
        assertThat(values(plan.scratchBytes(), sizes)).containsExactly(9664L);
        assertThat(plan.kernels().stream().map(KernelPlan::function))
                .containsExactly("_Z5firstPKhPf", "second", "_Z5firstPKhPf");
        KernelPlan first = plan.kernels().getFirst();
        assertThat(values(first.grid(), sizes)).containsExactly(3L, 2L, 1L);
        assertThat(values(first.block(), sizes)).containsExactly(16L, 16L, 1L);
        assertThat(first.sharedMemory().value(sizes)).isEqualTo(3072);
        assertThat(first.arguments().get(1)).isEqualTo(new Argument.Address(2));
        assertThat(first.arguments().get(2)).isEqualTo(new Argument.Fraction(ScalarType.FLOAT, 0.5));
        assertThat(first.arguments().get(3)).isEqualTo(new Argument.Fraction(ScalarType.DOUBLE, -0.001));
        assertThat(first.arguments().get(4)).isInstanceOf(Argument.Scalar.class);
    }

    @Test
    void shouldTakeAnInputThatIsCalledAsATypeIs() {
        ModelPlan plan = Configurations.adding()
                .input("int32", DataType.TYPE_INT32, 16)
                .parameter("add.arguments", "A, int32, SUM, int32 elements(int32)")
                .plan();

        assertThat(plan.kernels().getFirst().arguments().get(1)).isEqualTo(new Argument.Address(2));
        assertThat(plan.kernels().getFirst().arguments().get(3)).isInstanceOf(Argument.Scalar.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "kernels; ``; at position 1 of \"\" found the end, expected the name of a kernel",
                "kernels; add,; at position 5 of \"add,\" found the end, expected the name of a kernel",
                "kernels; add add; at position 5 of \"add add\" found 'add', expected ',' and the next kernel",
                "kernels; scratch; at position 1 of \"scratch\" found 'scratch', expected another name",
                "kernels; 2d; at position 1 of \"2d\" found '2d'",
                "add.function; ` `; it is empty, expected the name of a function",
                "add.grid; ``; at position 1 of \"\" found the end, expected a number",
                "add.grid; 0; at position 1 of \"0\" found 0, expected 1 or more",
                "add.grid; 1, 2, 3, 4; at position 10 of \"1, 2, 3, 4\" found '4', expected the end: there are no more",
                "add.grid; elements(C); found 'C', expected the name of a tensor, of A, B, SUM",
                "add.block; 16, 4 - 5; at position 5 of \"16, 4 - 5\" found -1, expected 1 or more",
                "add.block; 2 2; at position 3 of \"2 2\" found '2', expected an operator",
                "add.shared_memory; -1; at position 1 of \"-1\" found -1, expected a size in bytes, 0 or more",
                "add.shared_memory; 1, 2; at position 2 of \"1, 2\" found ',', expected the end: shared memory has one",
                "add.arguments; A, B, C, SUM; at position 7 of \"A, B, C, SUM\" found 'C', expected a tensor, of A, B, SUM, or a type",
                "add.arguments; A, , SUM; at position 4 of \"A, , SUM\" found ',', expected a tensor",
                "add.arguments; A B SUM; at position 3 of \"A B SUM\" found 'B', expected ',' and the next argument",
                "add.arguments; SUM, int32; at position 11 of \"SUM, int32\" found the end, expected a number",
                "add.arguments; SUM, int elements(A); at position 6 of \"SUM, int elements(A)\" found 'int', expected a tensor",
                "add.arguments; SUM, uint8 256; at position 12 of \"SUM, uint8 256\" found 256, expected a value of uint8, 0 to 255",
                "add.arguments; SUM, int32 0.5; at position 12 of \"SUM, int32 0.5\" found '0.5', expected an integer",
                "add.arguments; SUM, float 1e39; at position 12 of \"SUM, float 1e39\" found '1e39', expected a number that float holds",
                "add.arguments; A, B; ",
                "add.gird; 1; found 'gird', expected one of function, grid, block, shared_memory, arguments",
                "sub.grid; 1; found kernel 'sub', expected one of those that parameter 'kernels' lists: add",
                "scratch.A; 4; found 'A' for the name of scratch memory, expected one that is no input's or output's"
                        + " of A, B, SUM",
                "scratch.h; 0; at position 1 of \"0\" found 0, expected a size in bytes, 1 or more",
                "scratch.h; 4, 4; at position 2 of \"4, 4\" found ',', expected the end: scratch memory has one number",
                "scratch.h; bytes(h); found 'h', expected the name of a tensor",
                "shape.OUT; 1; the model has no output 'OUT', expected one of SUM",
                "shape.A; 1; the model has no output 'A', expected one of SUM",
                "shape.SUM; 16; found 16, expected batch, since the first dimension is that of the batch",
                "shape.SUM; batch; found 1 dimensions, expected 2: the shape of 'SUM' is [-1,16], whose first"
                        + " dimension is",
                "shape.SUM; batch, 15; at position 8 of \"batch, 15\" found 15, expected 16, which the configuration's dims",
                "shape.SUM; batch, bytes(SUM); found 'SUM', expected a tensor whose size is known before this one's:"
                        + " A, B",
            })
    void shouldRefuseAMistake(String key, String value, String reason) {
        Configurations configuration = Configurations.adding().parameter(key, value == null ? "" : value);

        assertThatThrownBy(configuration::plan)
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageStartingWith(
                        reason == null
                                ? "model 'm': output 'SUM' is an argument of no kernel"
                                : "model 'm': parameter '" + key + "': ")
                .hasMessageContaining(reason == null ? "expected it in the '.arguments' of one" : reason);
    }

    @ParameterizedTest
    @CsvSource({"kernels", "add.grid", "add.block", "add.arguments"})
    void shouldRefuseAMissingParameter(String key) {
        assertThatThrownBy(Configurations.adding().without(key)::plan)
                .hasMessageStartingWith("model 'm': parameter '" + key + "': it is missing; expected ");
    }

    @Test
    void shouldRefuseAVariableOutputWithoutAnExpression() {
        assertThatThrownBy(Configurations.adding().output("Y", DataType.TYPE_FP32, -1)::plan)
                .hasMessage(
                        "model 'm': parameter 'shape.Y': it is missing; expected an expression for each dimension of"
                                + " 'Y', whose shape [-1,-1] is variable, such as \"batch, dim(A, 1)\"");
    }

    @Test
    void shouldRefuseScratchMemoryThatNoKernelGets() {
        assertThatThrownBy(Configurations.adding().parameter("scratch.h", "64")::plan)
                .hasMessage(
                        "model 'm': scratch memory 'h' is an argument of no kernel, expected it in the '.arguments' of"
                                + " one");
    }

    @Test
    void shouldLeaveParametersOfOthersAlone() {
        assertThat(Configurations.adding()
                        .parameter("EXECUTION_ENV", "x")
                        .parameter("some.other", "y")
                        .plan()
                        .kernels())
                .hasSize(1);
    }

    @Test
    void shouldRefuseTensorsThatNoKernelTakes() {
        assertThatThrownBy(Configurations.adding().input("S", DataType.TYPE_STRING, 1)::plan)
                .hasMessage("the cuda backend cannot run model 'm': input 'S' is of TYPE_STRING; kernels take numbers"
                        + " only");
        assertThatThrownBy(Configurations.adding().output("S", DataType.TYPE_STRING, 1)::plan)
                .hasMessageContaining("output 'S' is of TYPE_STRING");
        assertThatThrownBy(Configurations.adding().output("A", DataType.TYPE_INT32, 1)::plan)
                .hasMessageContaining("two of its tensors are called 'A'");
        Configurations optional = Configurations.adding();
        optional.builder().getInputBuilder(0).setOptional(true);
        assertThatThrownBy(optional::plan).hasMessageContaining("input 'A' is optional");
        assertThatThrownBy(new Configurations()::plan).hasMessageContaining("its configuration has no 'input'");
        assertThatThrownBy(new Configurations().input("A", DataType.TYPE_INT32, 1)::plan)
                .hasMessageContaining("its configuration has no 'output'");
    }

    @Test
    void shouldUseTheShapeThatTheConfigurationReshapesTo() {
        Configurations reshaped = Configurations.adding().parameter("add.grid", "dim(A, 2)");
        reshaped.builder().getInputBuilder(0).getReshapeBuilder().addShape(4).addShape(4);

        assertThat(reshaped.plan().tensors().find("A").orElseThrow().shape()).contains(Shape.of(-1, 4, 4));
    }
}
