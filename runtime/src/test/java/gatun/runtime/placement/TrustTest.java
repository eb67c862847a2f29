// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.placement.RunPlacement.RunTimeEstimator.Trust;
import org.junit.jupiter.api.Test;

class TrustTest {
    private static final int FIRST = 4;
    private static final int AGAIN = 8;
    private static final int MOST = 32;

    private final Trust trust = new Trust(FIRST, AGAIN, MOST);

    /** How many cases that agree it takes from here. */
    private int casesToTrust() {
        int cases = 0;
        while (!trust.isEarned()) {
            trust.confirm();
            cases++;
        }
        return cases;
    }

    @Test
    void shouldBeEarnedByTheFirstCases() {
        assertThat(casesToTrust()).isEqualTo(FIRST);
        trust.confirm();
        assertThat(trust.isEarned()).isTrue();
    }

    @Test
    void shouldTakeLongerAfterACaseThatDisagreedBefore() {
        trust.confirm();
        trust.disprove();
        trust.disprove();
        assertThat(casesToTrust()).isEqualTo(AGAIN);
    }

    @Test
    void shouldTakeTwiceAsLongEachTimeThatItWasWrong() {
        casesToTrust();
        for (int expected : new int[] {2 * AGAIN, MOST, MOST}) {
            trust.disprove();
            assertThat(casesToTrust()).isEqualTo(expected);
        }
    }
}
