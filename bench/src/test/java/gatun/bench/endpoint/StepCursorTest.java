// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bench.data.DataPlan;
import gatun.bench.data.DataSet;
import gatun.bench.data.GeneratedTensors;
import gatun.bench.data.InputShapes;
import gatun.bench.data.ModelDescription;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StepCursorTest {
    @Test
    void shouldGoThroughTheDataAgainAndAgain() {
        try (DataSet data = sequenceOf(3)) {
            StepCursor cursor = new StepCursor(data, 0, new AtomicLong(100));
            List<Long> sequences = new ArrayList<>();
            List<Integer> steps = new ArrayList<>();
            for (int i = 0; i < 7; i++) {
                steps.add(cursor.next());
                sequences.add(cursor.sequence());
                cursor.answered();
            }
            assertThat(steps).containsExactly(0, 1, 2, 0, 1, 2, 0);
            assertThat(sequences).containsExactly(101L, 101L, 101L, 102L, 102L, 102L, 103L);
        }
    }

    @Test
    void shouldGiveUpASequenceInWhichARequestFailed() {
        try (DataSet data = sequenceOf(3)) {
            StepCursor cursor = new StepCursor(data, 0, new AtomicLong(100));
            assertThat(cursor.next()).isZero();
            cursor.answered();
            assertThat(cursor.next()).isEqualTo(1);
            // That one was not answered.
            assertThat(cursor.next()).isZero();
            assertThat(cursor.sequence()).isEqualTo(102);
        }
    }

    private static DataSet sequenceOf(int length) {
        ModelDescription model = new ModelDescription(
                "m", List.of(new TensorSpec("IN", Datatype.INT32, Shape.of(1))), List.of(), false, false, List.of());
        return new DataPlan(
                        new InputShapes(Map.of(), 1),
                        new GeneratedTensors(true, Optional.empty(), 1, 1),
                        Optional.empty(),
                        Optional.empty(),
                        0,
                        length)
                .open(model);
    }
}
