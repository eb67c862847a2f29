// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RunLengthTest {
    private static final int MANY = 100;

    private final RunLength length = new RunLength();

    @Test
    void shouldTrustNoRequestBeforeTheFirst() {
        assertThat(length.isShort(true)).isFalse();
        length.notedEngine(1000);
        assertThat(length.isShort(false)).isTrue();
    }

    @Test
    void shouldRegainTrustAfterASlowBeginning() {
        length.notedEngine(900_000_000);
        assertThat(length.isShort(true)).isFalse();
        for (int i = 0; i < MANY; i++) {
            length.notedEngine(1000);
        }
        assertThat(length.isShort(false)).isTrue();
    }

    @Test
    void shouldDoLongerOnesOnlyWhereNoneWaits() {
        length.notedEngine(500_000);
        length.notedWhole(600_000);
        assertThat(length.isShort(true)).isTrue();
        assertThat(length.isShort(false)).isFalse();
    }

    /** A batch that waits for others takes long though the engine does not. */
    @Test
    void shouldForgetAfterAWhileWhatTookLongForOtherReasons() {
        length.notedEngine(1000);
        assertThat(length.isShort(true)).isTrue();
        length.notedWhole(5_000_000);
        for (int i = 0; i < 64; i++) {
            assertThat(length.isShort(true)).isFalse();
            length.beginElsewhere();
            length.endElsewhere();
        }
        assertThat(length.isShort(false)).isTrue();
    }

    /** It may have waited for these. */
    @Test
    void shouldNotHoldTimeAgainstARunThatBeganAmongOthers() {
        length.notedEngine(1000);
        length.beginElsewhere();
        assertThat(length.isShort(false)).isTrue();
        length.notedWhole(5_000_000);
        length.endElsewhere();
        assertThat(length.isShort(false)).isTrue();
        length.notedWhole(5_000_000);
        assertThat(length.isShort(false)).isFalse();
    }
}
