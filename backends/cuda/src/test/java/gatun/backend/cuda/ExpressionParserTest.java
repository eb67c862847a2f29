// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.backend.cuda.Parameters.Parameter;
import gatun.backend.cuda.TensorTable.Kind;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import java.util.EnumSet;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExpressionParserTest {
    private final TensorTable tensors = new TensorTable();
    private final Sizes sizes = new Sizes(4);

    ExpressionParserTest() {
        tensors.add(Kind.INPUT, "X", Datatype.INT32, Optional.of(Shape.of(-1, 3, -1)));
        tensors.add(Kind.INPUT, "input:0", Datatype.UINT8, Optional.empty());
        tensors.add(Kind.OUTPUT, "Y", Datatype.FP32, Optional.of(Shape.of(-1)));
        tensors.add(Kind.SCRATCH, "h", Datatype.UINT8, Optional.empty());
        sizes.batch(5);
        sizes.shape(0, Datatype.INT32, Shape.of(5, 3, 7));
        sizes.shape(1, Datatype.UINT8, Shape.of(5, 9));
        sizes.byteSize(3, 640);
    }

    private Formula parse(String text) {
        return new ExpressionParser(
                        new Tokens(new Parameter("m", "k.grid", text)), tensors, EnumSet.of(Kind.INPUT, Kind.SCRATCH))
                .formula();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "7; 7",
                "1 + 2 * 3; 7",
                "(1 + 2) * 3; 9",
                "20 - 5 - 3; 12",
                "100 / 10 / 5; 2",
                "2 * 7 % 4; 2",
                "-7 / 2; -3",
                "-7 % 2; -1",
                "- - 3; 3",
                "-(2 + 1) * 2; -6",
                "+4; 4",
                "ceil(7 / 2); 4",
                "ceil(8 / 2); 4",
                "ceil(-7 / 2); -3",
                "ceil((3 + 4) * 2 / 4); 4",
                "ceil(elements(X) / 256); 1",
                "ceil(2 * elements(X) / 105) + 1; 3",
                "min(3, 1, 2); 1",
                "max(3, 1 + 4, 2) * 2; 10",
                "batch; 5",
                "dim(X, 2); 7",
                "dim(X,0)*dim(X,1); 15",
                "elements(X); 105",
                "bytes(X); 420",
                "rank(X); 3",
                "bytes(h) / 4; 160",
                "elements(\"input:0\"); 45",
                "dim(\"input:0\", 1); 9",
                "9223372036854775807; 9223372036854775807",
            })
    void shouldComputeAsCDoes(String text, long expected) {
        assertThat(parse(text).value(sizes)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "``; position 1; the end; a number",
                "1 +; position 4; the end; a number",
                "1 + + ); position 7; ')'; a number",
                "(1 + 2; position 7; the end; ')' or an operator",
                "1 2; position 3; '2'; an operator, a comma or the end",
                "1 # 2; position 3; '#'; a number, a name or one of",
                "nothing; position 1; 'nothing'; one of the functions ceil, min, max, dim",
                "sqrt(4); position 1; 'sqrt'; one of the functions",
                "X * 2; position 1; 'X'; a number, such as elements(X)",
                "elements(Z); position 10; 'Z'; the name of a tensor, of X, input:0, Y, h",
                "elements(3); position 10; '3'; the name of a tensor",
                "elements(X; position 11; the end; ')' behind the tensor's name",
                "dim(X); position 6; ')'; ',' and the number of a dimension",
                "dim(X, 3); position 8; '3'; 0 to 2, since 'X' has shape [-1,3,-1]",
                "dim(X, -1); position 8; '-'; the number of a dimension, from 0",
                "dim(X, 1; position 9; the end; ')' behind the number",
                "ceil(7); position 6; '7'; a division inside ceil( )",
                "ceil(7 / 2 + 1); position 12; '+'; a division inside ceil( )",
                "ceil(7 / 2 * 3); position 6; '7'; a division inside ceil( )",
                "min(3); position 6; ')'; ',' and another number",
                "0.5; position 1; '0.5'; an integer",
                "3x; position 1; '3x'; a decimal number",
                "9223372036854775808; position 1; '9223372036854775808'; an integer below 2^63",
                "elements('X); position 10; the quote '; the same quote",
                "4 / (2 - 2); position 3; 4 / 0 divides by zero; one that has a result",
                "4 % 0; position 3; 4 % 0 divides by zero; one that has a result",
                "9223372036854775807 + 1; position 21; exceeds 64 bits; one that has a result",
                "elements(Y); position 10; 'Y'; a tensor whose size is known before this one's",
            })
    void shouldRefuseWhatIsNoExpression(String text, String position, String found, String expected) {
        String written = text == null ? "" : text;
        assertThatThrownBy(() -> parse(written))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageStartingWith(
                        "model 'm': parameter 'k.grid': at " + position + " of \"" + written + "\" found ")
                .hasMessageContaining(found)
                .hasMessageContaining(expected);
    }

    @Test
    void shouldRefuseTheShapeOfScratchMemory() {
        assertThatThrownBy(() -> parse("dim(h, 0)"))
                .hasMessage(
                        "model 'm': parameter 'k.grid': 'h' is scratch memory, which has no shape; expected bytes(h)");
    }

    @Test
    void shouldRefuseExpressionsOfAnyDepth() {
        assertThatThrownBy(() -> parse("(".repeat(100_000))).hasMessageContaining("at most 100 levels");
        assertThatThrownBy(() -> parse("-".repeat(100_000) + "1")).hasMessageContaining("at most 100 levels");
        assertThatThrownBy(() -> parse("min(".repeat(100_000))).hasMessageContaining("at most 100 levels");
        assertThatThrownBy(() -> parse("ceil(".repeat(100_000))).hasMessageContaining("at most 100 levels");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "elements(X) / (batch - 5); 105 / 0 divides by zero",
                "elements(X) % (batch - 5); 105 % 0 divides by zero",
                "ceil(1 / (batch - 5)); 1 / 0 divides by zero",
                "elements(X) + 9223372036854775807; 105 + 9223372036854775807 exceeds 64 bits",
                "-9223372036854775807 - batch; -9223372036854775807 - 5 exceeds 64 bits",
                "9223372036854775807 * batch; 9223372036854775807 * 5 exceeds 64 bits",
                "-4611686018427387905 * (batch - 3); -4611686018427387905 * 2 exceeds 64 bits",
                "(-9223372036854775807 - 1) / (4 - batch); -9223372036854775808 / -1 exceeds 64 bits",
                "(-9223372036854775807 - 1) % (4 - batch); -9223372036854775808 % -1 exceeds 64 bits",
                "ceil((-9223372036854775807 - 1) / (4 - batch)); -9223372036854775808 / -1 exceeds 64 bits",
                "dim('input:0', 2); dimension 2 of shape [5,9]",
            })
    void shouldRefuseARequestForWhichThereIsNoResult(String text, String reason) {
        String written = text.replace("`", "'");
        Formula formula = parse(written.contains("input:0") ? "dim(\"input:0\", 2)" : written);

        assertThatThrownBy(() -> formula.value(sizes))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessage(
                        "'" + formula.text() + "' of the model's parameter 'k.grid' has no result for the tensors of"
                                + " this request: " + reason);
    }

    @Test
    void shouldKeepResultsAtTheEdgeOf64Bits() {
        assertThat(parse("-4611686018427387904 * (batch - 3)").value(sizes)).isEqualTo(Long.MIN_VALUE);
        assertThat(parse("9223372036854775802 + batch").value(sizes)).isEqualTo(Long.MAX_VALUE);
        assertThat(parse("-9223372036854775803 - batch").value(sizes)).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void shouldRefuseResultsOutsideTheirRange() {
        Formula formula = parse("elements(X) * 10");

        assertThat(formula.value(sizes, 1, 1050)).isEqualTo(1050);
        assertThatThrownBy(() -> formula.value(sizes, 1, 1049))
                .hasMessage(
                        "'elements(X) * 10' of the model's parameter 'k.grid' is 1050 for the tensors of this request,"
                                + " expected 1 to 1049");
    }

    @Test
    void shouldAllocateNothingWhenItEvaluates() {
        Formula formula = parse("max(ceil(elements(X) * 4 / 7), bytes(h) % 9) - dim(X, 1) * batch + rank(X)");
        var threads = (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (int i = 0; i < 20_000; i++) {
            sum += formula.value(sizes);
        }
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 100_000; i++) {
            sum += formula.value(sizes);
        }
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;

        assertThat(sum).isEqualTo(120_000L * (60 - 15 + 3));
        // The measuring itself takes some; one object for each evaluation would be 1.6 MB.
        assertThat(allocated).isLessThan(100_000);
    }
}
