// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;

class SpreadChoiceTest {
    private static final long BYTES = 1000;
    private static final int TRIALS = 3 * SpreadChoice.RUNS;

    private final SpreadChoice choice = new SpreadChoice();

    private void run(int count, long byteSize, boolean divides, ToLongFunction<Spread> nanos) {
        for (int i = 0; i < count; i++) {
            choice.took(byteSize, divides, nanos.applyAsLong(choice.next(byteSize, divides)));
        }
    }

    private static ToLongFunction<Spread> times(int share, int parts, int all) {
        return spread -> switch (spread) {
            case ON_A_SHARE -> share;
            case IN_PARTS -> parts;
            case ON_ALL_CORES -> all;
        };
    }

    @Test
    void shouldTakeWhatIsFastest() {
        run(TRIALS, BYTES, true, times(900, 500, 700));
        assertThat(choice.next(BYTES, true)).isEqualTo(Spread.IN_PARTS);
        run(TRIALS, 100 * BYTES, true, times(900, 700, 500));
        assertThat(choice.next(100 * BYTES, true)).isEqualTo(Spread.ON_ALL_CORES);
        assertThat(choice.next(BYTES, true)).as("for its own size").isEqualTo(Spread.IN_PARTS);
    }

    @Test
    void shouldTakeFewerThreadsWhereTheyTakeHardlyLonger() {
        run(TRIALS, BYTES, true, times(10_200, 10_100, 10_000));
        assertThat(choice.next(BYTES, true)).isEqualTo(Spread.ON_A_SHARE);
    }

    @Test
    void shouldNotMindTrialsThatWereDisturbed() {
        run(TRIALS / 3, BYTES, true, times(900_000, 500_000, 700));
        run(2 * TRIALS / 3, BYTES, true, times(900, 500, 700));
        assertThat(choice.next(BYTES, true)).isEqualTo(Spread.IN_PARTS);
    }

    @Test
    void shouldNotMindThatASpreadIsSlowAtFirst() {
        Spread[] last = {Spread.ON_A_SHARE};
        run(TRIALS, BYTES, true, spread -> {
            boolean warm = spread == last[0];
            last[0] = spread;
            return warm ? times(900, 700, 500).applyAsLong(spread) : 2000;
        });
        assertThat(choice.next(BYTES, true)).isEqualTo(Spread.ON_ALL_CORES);
    }

    @Test
    void shouldNotRunInPartsWhatDoesNotDivide() {
        for (int i = 0; i < 2 * TRIALS + SpreadChoice.FIRST_RUNS; i++) {
            assertThat(choice.next(BYTES, false)).isNotEqualTo(Spread.IN_PARTS);
            run(1, BYTES, false, times(900, 1, 700));
        }
        assertThat(choice.next(BYTES, false)).isEqualTo(Spread.ON_ALL_CORES);
    }

    @Test
    void shouldTryAgainAfterSomeTime() {
        run(TRIALS + SpreadChoice.FIRST_RUNS, BYTES, true, times(900, 500, 700));
        run(TRIALS, BYTES, true, times(900, 1000, 700));
        assertThat(choice.next(BYTES, true)).isEqualTo(Spread.ON_ALL_CORES);
    }

    @Test
    void shouldTryTooSeldomToBeSeen() {
        int others = 0;
        int runs = 10 * SpreadChoice.MOST_RUNS;
        for (int i = 0; i < runs; i++) {
            others += choice.next(BYTES, true) == Spread.IN_PARTS ? 0 : 1;
            run(1, BYTES, true, times(900, 500, 700));
        }
        assertThat(others).isPositive().isLessThan(runs / 200);
    }
}
