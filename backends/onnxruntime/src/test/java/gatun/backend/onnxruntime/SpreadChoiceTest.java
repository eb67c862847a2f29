// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.backend.onnxruntime.InstanceSessions.SpreadChoice;
import gatun.backend.onnxruntime.InstanceSessions.SpreadChoice.Spread;
import gatun.memory.tuning.Tuner.Trials;
import gatun.spi.Tuning;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;

class SpreadChoiceTest {
    private static final long BYTES = 1000;
    private static final int TRIALS = 1 + new Trials(3, 0, 2, 1).runs();

    private final SpreadChoice choice = new SpreadChoice(new LearningTuning());

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
    void shouldTakeWhatIsFastestForRunsOfASize() {
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
    void shouldNotRunInPartsWhatDoesNotDivide() {
        for (int i = 0; i < 20 * TRIALS; i++) {
            assertThat(choice.next(BYTES, false)).isNotEqualTo(Spread.IN_PARTS);
            run(1, BYTES, false, times(900, 1, 700));
        }
        assertThat(choice.next(BYTES, false)).isEqualTo(Spread.ON_ALL_CORES);
    }

    @Test
    void shouldRunOnAllCoresWhereNothingIsLearned() {
        SpreadChoice plain = new SpreadChoice(Tuning.OFF);
        for (int i = 0; i < 2 * TRIALS; i++) {
            assertThat(plain.next(BYTES, true)).isEqualTo(Spread.ON_ALL_CORES);
            plain.took(BYTES, true, times(900, 500, 700).applyAsLong(Spread.ON_ALL_CORES));
        }
    }
}
