// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.backend.onnxruntime.InstanceSessions.ExecutionModeTuner;
import gatun.backend.onnxruntime.InstanceSessions.ExecutionModeTuner.ExecutionMode;
import gatun.memory.tuning.Tuner.Trials;
import gatun.spi.Tuning;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;

class ExecutionModeTunerTest {
    private static final long BYTES = 1000;
    private static final int TRIALS = 1 + new Trials(3, 0, 2, 1).runs();

    private final ExecutionModeTuner choice = new ExecutionModeTuner(new LearningTuning());

    private void run(int count, long byteSize, boolean divides, ToLongFunction<ExecutionMode> nanos) {
        for (int i = 0; i < count; i++) {
            choice.recordRun(byteSize, divides, nanos.applyAsLong(choice.next(byteSize, divides)));
        }
    }

    private static ToLongFunction<ExecutionMode> times(int share, int parts, int all) {
        return mode -> switch (mode) {
            case ON_A_SHARE -> share;
            case IN_PARTS -> parts;
            case ON_ALL_CORES -> all;
        };
    }

    @Test
    void shouldTakeWhatIsFastestForRunsOfASize() {
        run(TRIALS, BYTES, true, times(900, 500, 700));
        assertThat(choice.next(BYTES, true)).isEqualTo(ExecutionMode.IN_PARTS);
        run(TRIALS, 100 * BYTES, true, times(900, 700, 500));
        assertThat(choice.next(100 * BYTES, true)).isEqualTo(ExecutionMode.ON_ALL_CORES);
        assertThat(choice.next(BYTES, true)).as("for its own size").isEqualTo(ExecutionMode.IN_PARTS);
    }

    @Test
    void shouldTakeFewerThreadsWhereTheyTakeHardlyLonger() {
        run(TRIALS, BYTES, true, times(10_200, 10_100, 10_000));
        assertThat(choice.next(BYTES, true)).isEqualTo(ExecutionMode.ON_A_SHARE);
    }

    @Test
    void shouldNotRunInPartsWhatDoesNotDivide() {
        for (int i = 0; i < 20 * TRIALS; i++) {
            assertThat(choice.next(BYTES, false)).isNotEqualTo(ExecutionMode.IN_PARTS);
            run(1, BYTES, false, times(900, 1, 700));
        }
        assertThat(choice.next(BYTES, false)).isEqualTo(ExecutionMode.ON_ALL_CORES);
    }

    @Test
    void shouldRunOnAllCoresWhereNothingIsLearned() {
        ExecutionModeTuner plain = new ExecutionModeTuner(Tuning.OFF);
        for (int i = 0; i < 2 * TRIALS; i++) {
            assertThat(plain.next(BYTES, true)).isEqualTo(ExecutionMode.ON_ALL_CORES);
            plain.recordRun(BYTES, true, times(900, 500, 700).applyAsLong(ExecutionMode.ON_ALL_CORES));
        }
    }
}
