// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class InlineRunsTest {
    private static <T> T onVirtualThread(Callable<T> action) throws Exception {
        FutureTask<T> task = new FutureTask<>(action);
        Thread.startVirtualThread(task);
        return task.get();
    }

    @Test
    void shouldLetOnlyShortRunsTakeTheLastCarrier() throws Exception {
        InlineRuns runs = new InlineRuns(1);
        runs.limit(2);
        assertThat(onVirtualThread(runs::tryBegin)).isEqualTo(RunTimes.LONG_NANOS);
        assertThat(onVirtualThread(runs::tryBegin)).isEqualTo(RunTimes.SHORT_NANOS);
        assertThat(onVirtualThread(runs::tryBegin)).isZero();
    }

    @Test
    void shouldLeaveTheLastCarrierWhereNoneCanBeAdded() throws Exception {
        InlineRuns runs = new InlineRuns(1);
        assertThat(onVirtualThread(runs::tryBegin)).isEqualTo(RunTimes.LONG_NANOS);
        assertThat(onVirtualThread(runs::tryBegin)).isZero();
    }

    @Test
    void shouldLetAnyNumberOfPlatformThreadsRun() {
        InlineRuns runs = new InlineRuns(0);
        assertThat(runs.tryBegin()).isEqualTo(RunTimes.LONG_NANOS);
        assertThat(runs.tryBegin()).isEqualTo(RunTimes.LONG_NANOS);
    }
}
