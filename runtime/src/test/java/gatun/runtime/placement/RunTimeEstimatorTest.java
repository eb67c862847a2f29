// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import org.junit.jupiter.api.Test;

class RunTimeEstimatorTest {
    private static final long SHORT = 50_000;
    private static final long LONG = RunTimeEstimator.LONG_NANOS;

    private final RunTimeEstimator times = new RunTimeEstimator(20_000);

    private void run(int count, long nanos) {
        for (int i = 0; i < count; i++) {
            times.record(nanos);
        }
    }

    @Test
    void shouldTrustAModelAfterEnoughShortRuns() {
        run(RunTimeEstimator.FIRST_TRIAL - 1, SHORT);
        assertThat(times.areWithin(RunTimeEstimator.SHORT_NANOS)).isFalse();
        run(1, SHORT);
        assertThat(times.areWithin(RunTimeEstimator.SHORT_NANOS)).isTrue();
    }

    @Test
    void shouldNotMindARunThatTheSystemInterrupted() {
        run(100, SHORT);
        run(1, 4_000_000);
        assertThat(times.areWithin(RunTimeEstimator.SHORT_NANOS)).isTrue();
        assertThat(times.typicalNanos()).isLessThan(2 * SHORT);
    }

    @Test
    void shouldNoticeThatRunsTakeLongerThanBefore() {
        run(100, SHORT);
        run(20, 2 * RunTimeEstimator.SHORT_NANOS);
        assertThat(times.areWithin(RunTimeEstimator.SHORT_NANOS)).isFalse();
        run(100, SHORT);
        assertThat(times.areWithin(RunTimeEstimator.SHORT_NANOS)).isTrue();
    }

    @Test
    void shouldTakeTwiceAsLongToTrustAgainAfterEachLongRun() {
        run(RunTimeEstimator.FIRST_TRIAL, SHORT);
        int trial = RunTimeEstimator.FIRST_TRIAL;
        for (int i = 0; i < 20; i++) {
            trial = Math.min(2 * trial, RunTimeEstimator.LAST_TRIAL);
            run(1, LONG);
            run(trial - 1, SHORT);
            assertThat(times.areWithin(RunTimeEstimator.SHORT_NANOS))
                    .as("after long run " + i)
                    .isFalse();
            run(1, SHORT);
            assertThat(times.areWithin(RunTimeEstimator.SHORT_NANOS))
                    .as("after long run " + i)
                    .isTrue();
        }
        assertThat(trial).isEqualTo(RunTimeEstimator.LAST_TRIAL);
    }

    @Test
    void shouldForgiveLongRunsBeforeTrust() {
        run(5, LONG);
        run(RunTimeEstimator.FIRST_TRIAL + 40, SHORT);
        assertThat(times.areWithin(RunTimeEstimator.SHORT_NANOS))
                .as("only runs that broke trust make the trial longer")
                .isTrue();
    }

    @Test
    void shouldCountRunsThatAreNotedTogetherAsIfTheyWereNotedOneByOne() {
        RunTimeEstimator together = new RunTimeEstimator(20_000);
        int runs = 4 * RunTimeEstimator.FIRST_TRIAL;
        run(runs, SHORT);
        together.record(runs, runs * SHORT);
        assertThat(together.typicalNanos()).isEqualTo(times.typicalNanos());
        assertThat(together.areWithin(SHORT)).isTrue();
    }

    @Test
    void shouldExpectRunsAboutAsLongAsTheOnesBefore() {
        assertThat(RunTimeEstimator.isExpected(SHORT, SHORT)).isTrue();
        assertThat(RunTimeEstimator.isExpected(2 * SHORT, SHORT)).isTrue();
        assertThat(RunTimeEstimator.isExpected(10 * SHORT, SHORT)).isFalse();
        assertThat(RunTimeEstimator.isExpected(LONG, LONG - 1)).isFalse();
    }
}
