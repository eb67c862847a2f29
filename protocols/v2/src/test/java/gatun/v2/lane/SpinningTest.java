// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.v2.lane.LaneThread.Spinning;
import org.junit.jupiter.api.Test;

class SpinningTest {
    /** Far longer than a gap in this test, however slow the machine is. */
    private static final long LIMIT_NANOS = 5_000_000_000L;

    private static final int MANY = 100;

    private static void ask(Spinning spinning, boolean callerSpins) {
        spinning.noteRequest();
        spinning.noteCaller(callerSpins);
        spinning.noteIdle();
    }

    @Test
    void shouldSpinForACallerThatDoes() {
        Spinning spinning = new Spinning(LIMIT_NANOS);
        assertThat(spinning.nanos()).isZero();
        for (int i = 0; i < MANY; i++) {
            ask(spinning, true);
        }
        assertThat(spinning.nanos()).isEqualTo(LIMIT_NANOS);
        ask(spinning, false);
        assertThat(spinning.nanos()).isZero();
    }

    @Test
    void shouldNotSpinWhereRequestsComeMoreSlowly() {
        Spinning spinning = new Spinning(1);
        for (int i = 0; i < MANY; i++) {
            ask(spinning, true);
        }
        assertThat(spinning.nanos()).isZero();
    }

    @Test
    void shouldNeverSpinWithoutTime() {
        Spinning spinning = new Spinning(0);
        for (int i = 0; i < MANY; i++) {
            ask(spinning, true);
        }
        assertThat(spinning.nanos()).isZero();
    }
}
