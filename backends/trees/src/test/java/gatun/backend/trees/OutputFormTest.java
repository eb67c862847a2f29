// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.Datatype;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class OutputFormTest {
    private static float[] made(OutputForm form, long rows, float... numbers) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(rows * form.width() * Float.BYTES);
            form.write(arena.allocateFrom(ValueLayout.JAVA_FLOAT, numbers), Datatype.FP32, rows, target);
            return target.toArray(ValueLayout.JAVA_FLOAT);
        }
    }

    private static OutputForm form(OutputForm.Kind kind, int columns) {
        return new OutputForm(kind, Datatype.FP32, columns, 0.5f);
    }

    @Test
    void shouldCopyWhatIsPlain() {
        assertThat(made(form(OutputForm.Kind.PLAIN, 2), 2, 1, 2, 3, 4)).containsExactly(1, 2, 3, 4);
    }

    @Test
    void shouldBeAboveTheThresholdForTheSecondClass() {
        assertThat(made(form(OutputForm.Kind.CLASS, 1), 4, 0.4f, 0.5f, 0.51f, Float.NaN))
                .containsExactly(0, 0, 1, 0);
    }

    @Test
    void shouldChooseTheFirstOfTheLargest() {
        assertThat(made(form(OutputForm.Kind.CLASS, 3), 3, 0.1f, 0.7f, 0.2f, 0.4f, 0.2f, 0.4f, 0.1f, 0.2f, 0.7f))
                .containsExactly(1, 0, 2);
    }

    @Test
    void shouldPutTheOtherProbabilityBefore() {
        assertThat(made(form(OutputForm.Kind.BOTH_CLASSES, 1), 2, 0.25f, 1)).containsExactly(0.75f, 0.25f, 0, 1);
    }

    @Test
    void shouldChangeTheDatatype() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment doubles = arena.allocateFrom(ValueLayout.JAVA_DOUBLE, 0.1, 3);
            MemorySegment floats = arena.allocate(8);
            form(OutputForm.Kind.PLAIN, 1).write(doubles, Datatype.FP64, 2, floats);
            assertThat(floats.toArray(ValueLayout.JAVA_FLOAT)).containsExactly(0.1f, 3);
            MemorySegment integers = arena.allocate(8);
            new OutputForm(OutputForm.Kind.PLAIN, Datatype.INT32, 2, 0).write(doubles, Datatype.FP64, 1, integers);
            assertThat(integers.toArray(ValueLayout.JAVA_INT)).containsExactly(0, 3);
        }
    }
}
