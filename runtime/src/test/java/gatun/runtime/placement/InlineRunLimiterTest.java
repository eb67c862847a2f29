// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InlineRunLimiterTest {
    private static <T> T onVirtualThread(Callable<T> action) throws Exception {
        FutureTask<T> task = new FutureTask<>(action);
        Thread.startVirtualThread(task);
        return task.get();
    }

    private static boolean begins(InlineRunLimiter runs, long typicalNanos) throws Exception {
        return onVirtualThread(() -> runs.tryBegin(typicalNanos));
    }

    @Test
    void shouldLetOnlyShortRunsTakeTheLastCarrier() throws Exception {
        InlineRunLimiter runs = new InlineRunLimiter(2);
        runs.limit(2, false);
        assertThat(begins(runs, RunTimeEstimator.LONG_NANOS)).isTrue();
        assertThat(begins(runs, RunTimeEstimator.LONG_NANOS)).isFalse();
        assertThat(begins(runs, RunTimeEstimator.SHORT_NANOS)).isTrue();
        assertThat(runs.isFull(runs.state())).isTrue();
    }

    @Test
    void shouldLeaveAnAddedCarrierToOthers() throws Exception {
        InlineRunLimiter runs = new InlineRunLimiter(2);
        runs.limit(2, true);
        assertThat(begins(runs, RunTimeEstimator.SHORT_NANOS)).isTrue();
        assertThat(begins(runs, RunTimeEstimator.SHORT_NANOS)).isTrue();
        assertThat(begins(runs, RunTimeEstimator.SHORT_NANOS)).isFalse();
    }

    @Test
    void shouldLeaveTheLastCarrierWhereNoneCanBeAdded() throws Exception {
        InlineRunLimiter runs = new InlineRunLimiter(2);
        assertThat(begins(runs, RunTimeEstimator.SHORT_NANOS)).isTrue();
        assertThat(begins(runs, RunTimeEstimator.SHORT_NANOS)).isFalse();
    }

    @Test
    void shouldLetAnyNumberOfPlatformThreadsRun() {
        InlineRunLimiter runs = new InlineRunLimiter(1);
        assertThat(runs.tryBegin(RunTimeEstimator.LONG_NANOS)).isTrue();
        assertThat(runs.tryBegin(RunTimeEstimator.LONG_NANOS)).isTrue();
        assertThat(InlineRunLimiter.runs(runs.state())).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 64, 1000})
    void shouldTellHowManyRunsThereAreAndWhetherTheyAreTheSame(int carriers) throws Exception {
        InlineRunLimiter runs = new InlineRunLimiter(carriers);
        runs.limit(carriers, false);
        int count = 100;
        for (int i = 0; i < count; i++) {
            assertThat(begins(runs, RunTimeEstimator.SHORT_NANOS)).isTrue();
        }
        long before = runs.state();
        assertThat(InlineRunLimiter.runs(before)).isEqualTo(count);

        onVirtualThread(() -> {
            assertThat(runs.tryBegin(RunTimeEstimator.SHORT_NANOS)).isTrue();
            runs.end();
            return true;
        });

        assertThat(InlineRunLimiter.runs(runs.state())).isEqualTo(count);
        assertThat(runs.state()).isNotEqualTo(before);
    }
}
