// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.placement.RunPlacement;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import org.junit.jupiter.api.Test;

class RunLengthTest {
    private final RunPlacement placement = RunPlacement.of(true);
    private final RunLength length = new RunLength();

    private boolean isShort(boolean alone) {
        return length.isShort(placement, alone);
    }

    private void runElsewhere(int runs, long engineNanos) {
        for (int i = 0; i < runs; i++) {
            length.beginElsewhere();
            length.endElsewhere(engineNanos);
        }
    }

    @Test
    void shouldTrustNoRequestBeforeSomeWereShort() {
        runElsewhere(RunTimeEstimator.FIRST_TRIAL - 1, 1000);
        assertThat(isShort(true)).isFalse();
        runElsewhere(1, 1000);
        assertThat(isShort(false)).isTrue();
    }

    @Test
    void shouldFindNoneShortWhereNothingIsLearned() {
        runElsewhere(RunTimeEstimator.FIRST_TRIAL, 1000);
        assertThat(length.isShort(RunPlacement.of(false), true)).isFalse();
    }

    @Test
    void shouldLearnNothingOfWhatFailed() {
        runElsewhere(RunTimeEstimator.FIRST_TRIAL, RunLength.UNKNOWN);
        assertThat(isShort(true)).isFalse();
    }

    @Test
    void shouldRegainTrustAfterASlowBeginning() {
        runElsewhere(1, 900_000_000);
        runElsewhere(RunTimeEstimator.FIRST_TRIAL, 1000);
        assertThat(isShort(true)).isFalse();
        runElsewhere(100, 1000);
        assertThat(isShort(false)).isTrue();
    }

    @Test
    void shouldDoLongerOnesOnlyWhereNoneWaits() {
        runElsewhere(RunTimeEstimator.FIRST_TRIAL, 500_000);
        length.endWhereFound(500_000, 600_000);
        assertThat(isShort(true)).isTrue();
        assertThat(isShort(false)).isFalse();
    }

    /** A batch that waits for others takes long though the engine does not. */
    @Test
    void shouldForgetAfterAWhileWhatTookLongForOtherReasons() {
        runElsewhere(RunTimeEstimator.FIRST_TRIAL, 1000);
        assertThat(isShort(true)).isTrue();
        length.endWhereFound(1000, 5_000_000);
        for (int i = RunTimeEstimator.FIRST_TRIAL; i < 64; i++) {
            assertThat(isShort(true)).isFalse();
            runElsewhere(1, 1000);
        }
        assertThat(isShort(false)).isTrue();
    }

    /** It may have waited for these. */
    @Test
    void shouldNotHoldTimeAgainstARunThatBeganAmongOthers() {
        runElsewhere(RunTimeEstimator.FIRST_TRIAL, 1000);
        length.beginElsewhere();
        assertThat(isShort(false)).isTrue();
        length.endWhereFound(1000, 5_000_000);
        length.endElsewhere(1000);
        assertThat(isShort(false)).isTrue();
        length.endWhereFound(1000, 5_000_000);
        assertThat(isShort(false)).isFalse();
    }
}
