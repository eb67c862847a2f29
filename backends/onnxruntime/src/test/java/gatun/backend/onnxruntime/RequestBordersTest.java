// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.spi.ExecutionRequest;
import gatun.testing.executions.RecordedExecution;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RequestBordersTest {
    private final RequestBorders borders = new RequestBorders();

    private static List<ExecutionRequest> requests(int... rows) {
        return new RecordedExecution().forRows(rows).requests();
    }

    private long[] cut(int most, int... rows) {
        assertThat(borders.take(requests(rows), IntStream.of(rows).sum())).isTrue();
        long[] ends = new long[most];
        return Arrays.copyOf(ends, borders.cut(ends));
    }

    @Test
    void shouldNotCutARequest() {
        assertThat(borders.take(requests(8), 8)).isFalse();
    }

    @Test
    void shouldNotCutWhatIsForNobody() {
        assertThat(borders.take(requests(), 4)).isFalse();
    }

    @Test
    void shouldNotCutABatchWithRowsOfNoRequest() {
        assertThat(borders.take(requests(1, 2), 4)).isFalse();
    }

    @Test
    void shouldNotCutRequestsWithoutABatchDimension() {
        assertThat(borders.take(requests(0, 0), 0)).isFalse();
    }

    @Test
    void shouldCutAtTheBordersNearestToEqualParts() {
        assertThat(cut(2, 1, 1, 1, 1)).containsExactly(2, 4);
        assertThat(cut(2, 1, 6, 1)).containsExactly(7, 8);
        assertThat(cut(2, 3, 1)).containsExactly(3, 4);
        assertThat(cut(3, 1, 1, 1, 9)).containsExactly(2, 3, 12);
        assertThat(cut(8, 5, 2)).containsExactly(5, 7);
    }

    @Test
    void shouldGiveEachPartARequest() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 1000; i++) {
            int[] rows = random.ints(random.nextInt(2, 20), 1, 9).toArray();
            int[] sums = rows.clone();
            Arrays.parallelPrefix(sums, Integer::sum);
            int most = random.nextInt(2, 9);
            long[] ends = cut(most, rows);
            assertThat(ends).hasSize(Math.min(most, rows.length)).isSorted().doesNotHaveDuplicates();
            assertThat(IntStream.of(sums).asLongStream().boxed())
                    .containsAll(Arrays.stream(ends).boxed().toList());
            assertThat(ends[ends.length - 1]).isEqualTo(sums[sums.length - 1]);
        }
    }
}
