// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tuning.Tuner;
import gatun.runtime.placement.ModelTuning;
import gatun.runtime.scheduling.BatchPolicy.QueueCapacities;
import gatun.spi.Tuning;
import gatun.spi.Tuning.Subject;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AdaptiveBatchDelayTest {
    private static final long RUN = 1_000_000;
    private static final int CALLERS = 4;
    private static final int MANY_RUNS = 100_000;

    private final AdaptiveBatchDelay gathering = new AdaptiveBatchDelay(batches(8, 0), learning());
    private long now;

    static Tuning learning() {
        return new ModelTuning(Set.of(Subject.BATCHES));
    }

    private static BatchPolicy batches(int maxBatchSize, long maxQueueDelayNanos) {
        return new BatchPolicy(maxBatchSize, List.of(), maxQueueDelayNanos, false, QueueCapacities.all(100));
    }

    /** Four callers who ask again at once: run together they wait for one run, else most of them for two. */
    private static long askTogether(AdaptiveBatchDelay gathering, long now, long togetherNanos) {
        if (gathering.expectsMoreThan(1)) {
            gathering.begun(0, CALLERS, CALLERS);
            gathering.ended(0, RUN, 0, now + togetherNanos);
            return now + togetherNanos;
        }
        gathering.begun(0, 1, 1);
        gathering.ended(0, RUN, CALLERS - 1, now + RUN);
        gathering.begun(0, CALLERS - 1, CALLERS - 1);
        gathering.ended(0, RUN, 1, now + 2 * RUN);
        return now + 2 * RUN;
    }

    private void askTogether(int runs, long togetherNanos) {
        for (int i = 0; i < runs; i++) {
            now = askTogether(gathering, now, togetherNanos);
        }
    }

    /** Has callers show that keeping batches pays. */
    static void teach(AdaptiveBatchDelay gathering) {
        long time = -MANY_RUNS * RUN;
        for (int i = 0; i < AdaptiveBatchDelay.COMPANY + 1 + AdaptiveBatchDelay.TRIALS.runs(); i++) {
            time = askTogether(gathering, time, RUN);
        }
    }

    @Test
    void shouldKeepABatchForCallersWhoComeBackTogetherAndAreServedSoonerThen() {
        teach(gathering);
        askTogether(1, RUN);

        assertThat(gathering.expectsMoreThan(CALLERS - 1)).isTrue();
        assertThat(gathering.expectsMoreThan(CALLERS)).isFalse();
        assertThat(gathering.keepNanos(1, now)).isPositive().isLessThan(RUN);
        assertThat(gathering.keepNanos(CALLERS, now)).isZero();
        assertThat(gathering.keepNanos(1, now + RUN))
                .as("when the time is over")
                .isZero();
    }

    @Test
    void shouldNotKeepABatchForLongerBecauseOtherRunsEnd() {
        teach(gathering);
        askTogether(1, RUN);
        long kept = gathering.keepNanos(1, now);
        gathering.ended(1, RUN, CALLERS, now + kept / 2);
        assertThat(gathering.keepNanos(2, now + kept / 2)).isEqualTo(kept - kept / 2);
        assertThat(gathering.keepNanos(2, now + kept)).isZero();

        gathering.begun(0, 2, 2);
        assertThat(gathering.keepNanos(2, now + kept / 2)).as("the next batch").isEqualTo(kept);
    }

    @Test
    void shouldKeepNoneWhereThatTakesLonger() {
        int kept = 0;
        for (int i = 0; i < MANY_RUNS; i++) {
            kept += gathering.expectsMoreThan(1) ? 1 : 0;
            askTogether(1, 2 * RUN);
        }
        assertThat(kept).as("trials").isBetween(Tuner.TURNS, MANY_RUNS / 50);
    }

    @Test
    void shouldNoticeThatItPaysNoMore() {
        teach(gathering);
        askTogether(MANY_RUNS, 4 * RUN);
        int kept = 0;
        for (int i = 0; i < AdaptiveBatchDelay.TRIALS.firstRest() / 2; i++) {
            kept += gathering.expectsMoreThan(1) ? 1 : 0;
            askTogether(1, 4 * RUN);
        }
        assertThat(kept).isLessThanOrEqualTo(AdaptiveBatchDelay.TRIALS.runs() / 2);
    }

    @Test
    void shouldExpectNobodyBesideACallerWhoIsAlone() {
        teach(gathering);
        for (int i = 0; i < 2 * AdaptiveBatchDelay.COMPANY; i++) {
            now += RUN;
            gathering.begun(0, 1, 1);
            gathering.ended(0, RUN, 0, now);
        }
        assertThat(gathering.expectsMoreThan(1)).isFalse();
        assertThat(gathering.keepNanos(1, now)).isZero();
    }

    @Test
    void shouldNotKeepBatchesForShortRuns() {
        teach(gathering);
        gathering.begun(0, CALLERS, CALLERS);
        gathering.ended(0, AdaptiveBatchDelay.SHORTEST_RUN_NANOS - 1, CALLERS, now);
        assertThat(gathering.expectsMoreThan(1)).isFalse();
    }

    @Test
    void shouldExpectNoMoreThanABatchHolds() {
        AdaptiveBatchDelay small = new AdaptiveBatchDelay(batches(CALLERS, 0), learning());
        teach(small);
        small.begun(0, CALLERS, CALLERS);
        small.ended(0, RUN, 8, now);
        assertThat(small.expectsMoreThan(CALLERS - 1)).isTrue();
        assertThat(small.expectsMoreThan(CALLERS)).isFalse();
    }

    @Test
    void shouldLearnForTwoCallersApartFromWhatItLearnedForFour() {
        teach(gathering);
        for (int i = 0; i < 4; i++) {
            gathering.begun(0, 2, 2);
            gathering.ended(0, RUN, 0, now);
        }
        assertThat(gathering.expectsMoreThan(1)).isFalse();
    }

    @Test
    void shouldLeaveItToWhoeverSaysHowLongToWait() {
        AdaptiveBatchDelay configured = new AdaptiveBatchDelay(batches(8, 1), learning());
        teach(configured);
        assertThat(configured.expectsMoreThan(1)).isFalse();
    }
}
