// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class RankingTest {
    private static Tensor tensor(Datatype datatype, MemorySegment bytes, long... dims) {
        return new Tensor(new TensorSpec("scores", datatype, Shape.of(dims)), bytes);
    }

    @Test
    void shouldFindTheLargestAsSortingDoesTheFirstOfEqualsFirst() {
        Random random = new Random(7);
        try (Arena arena = Arena.ofConfined()) {
            for (int round = 0; round < 300; round++) {
                int items = 1 + random.nextInt(3);
                int classes = 1 + random.nextInt(40);
                MemorySegment bytes = arena.allocate(4L * items * classes, 4);
                for (int i = 0; i < items * classes; i++) {
                    bytes.set(ElementLayouts.FP32, 4L * i, random.nextInt(10) - 5);
                }
                Ranking ranking = Ranking.of(tensor(Datatype.FP32, bytes, items, classes), 1);
                int count = 1 + random.nextInt(classes + 2);
                for (int item = 0; item < items; item++) {
                    int of = item;
                    int[] sorted = IntStream.range(0, classes)
                            .boxed()
                            .sorted(Comparator.comparingDouble(index -> -ranking.real(of, index)))
                            .limit(count)
                            .mapToInt(Integer::intValue)
                            .toArray();
                    assertThat(ranking.largest(item, count))
                            .as("round %d", round)
                            .isEqualTo(sorted);
                }
            }
        }
    }

    @Test
    void shouldTakeTheHighestBitOfUint64ForWhatItIs() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(24, 8);
            bytes.set(ElementLayouts.INT64, 0, 5);
            bytes.set(ElementLayouts.INT64, 8, -1);
            bytes.set(ElementLayouts.INT64, 16, 9);
            assertThat(Ranking.of(tensor(Datatype.UINT64, bytes, 3), 0).largest(0, 3))
                    .containsExactly(1, 2, 0);
            assertThat(Ranking.of(tensor(Datatype.INT64, bytes, 3), 0).largest(0, 3))
                    .containsExactly(2, 0, 1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BOOL", "FP16", "BF16", "BYTES"})
    void shouldRefuseWhatHasNoOrder(Datatype datatype) {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> Ranking.of(tensor(datatype, MemorySegment.NULL, 1), 0))
                .withMessage("class result not available for output due to unsupported type '%s'", datatype.wireName());
    }
}
