// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator.Trust;
import org.junit.jupiter.api.Test;

class RunPlacementTest {
    private static final long SHORT = RunPlacement.WAKING_NANOS / 10;
    private static final long MIDDLE = 25 * RunPlacement.WAKING_NANOS;
    private static final int ENOUGH = 100;

    private final RunPlacement placement = RunPlacement.of(true);
    private final RunPlacement plain = RunPlacement.of(false);

    private static RunTimeEstimator times(long nanos) {
        RunTimeEstimator times = new RunTimeEstimator(RunPlacement.WAKING_NANOS);
        for (int i = 0; i < ENOUGH; i++) {
            times.record(nanos);
        }
        return times;
    }

    @Test
    void shouldLendInstancesWhereNoRequestMayHaveToWaitForOthers() {
        assertThat(placement.lendsInstances(false, 0)).isTrue();
        assertThat(placement.lendsInstances(true, 0)).isFalse();
        assertThat(placement.lendsInstances(false, 1)).isFalse();
        assertThat(plain.lendsInstances(false, 0)).isFalse();
    }

    @Test
    void shouldLendAnyIdleInstanceWhereRequestsShareNoRuns() {
        assertThat(placement.mayBorrow(times(SHORT), false, false, true)).isTrue();
        assertThat(placement.mayBorrow(times(2 * RunTimeEstimator.LONG_NANOS), false, true, false))
                .isFalse();
    }

    @Test
    void shouldLetRequestsGatherBesideARun() {
        assertThat(placement.mayBorrow(times(SHORT), true, true, false)).isTrue();
        assertThat(placement.mayBorrow(times(SHORT), true, false, false)).isFalse();
        assertThat(placement.mayBorrow(times(MIDDLE), true, false, false))
                .as("long beside a wake-up")
                .isTrue();
        assertThat(placement.mayBorrow(times(MIDDLE), true, true, true))
                .as("they come together")
                .isFalse();
        assertThat(placement.mayBorrow(times(SHORT), true, true, true))
                .as("over before another thread is awake")
                .isTrue();
    }

    @Test
    void shouldLeaveShortRunsToInstancesThatAreAwakeWhileAnotherLooks() {
        assertThat(placement.isWakingDearer(times(SHORT), 1, 1, true)).isTrue();
        assertThat(placement.isWakingDearer(times(SHORT), ENOUGH, 1, true)).isFalse();
        assertThat(placement.isWakingDearer(times(SHORT), 1, 1, false))
                .as("nobody would look")
                .isFalse();
        assertThat(placement.isWakingDearer(times(MIDDLE), 1, 1, true)).isFalse();
        assertThat(plain.isWakingDearer(times(SHORT), 1, 1, true)).isFalse();
    }

    @Test
    void shouldRunCallsOnTheReaderOnceTheyHaveComeOneAtATime() {
        assertThat(callsBeforeTheReader(placement)).isEqualTo(4);
        assertThat(callsBeforeTheReader(plain)).isEqualTo(ENOUGH);
    }

    @Test
    void shouldRunNoCallOnTheReaderForLongOnceCallsCameTogether() {
        Trust trust = placement.newReaderTrust();
        assertThat(placement.runsOnReader(false, trust)).isFalse();
        for (int i = 0; i < 64; i++) {
            assertThat(placement.runsOnReader(true, trust)).isFalse();
        }
        assertThat(placement.runsOnReader(true, trust)).isTrue();
    }

    private static int callsBeforeTheReader(RunPlacement placement) {
        Trust trust = placement.newReaderTrust();
        int calls = 0;
        while (calls < ENOUGH && !placement.runsOnReader(true, trust)) {
            calls++;
        }
        return calls;
    }

    @Test
    void shouldHaveShortRequestsOfManyConnectionsOnOneThread() {
        assertThat(placement.runsOnSharedReader(placement.newConnectionTimes()))
                .as("before there was a request")
                .isFalse();
        assertThat(placement.runsOnSharedReader(times(SHORT))).isTrue();
        assertThat(placement.runsOnSharedReader(times(MIDDLE))).isFalse();
        assertThat(plain.runsOnSharedReader(times(SHORT))).isFalse();
    }
}
