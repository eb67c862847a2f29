// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.ThreadCore;
import java.util.BitSet;
import org.junit.jupiter.api.Test;

/** On a machine with one core all of this is true as well: to be bound to it changes nothing. */
class ServerThreadAffinityTest {
    private static final BitSet ALLOWED = ThreadCore.allowed();
    private static final int FIRST = ALLOWED.nextSetBit(0);
    private static final int LAST = ALLOWED.length() - 1;

    private final Object one = new Object();
    private final Object other = new Object();
    private final ServerThreadAffinity place = new ServerThreadAffinity();

    @Test
    void shouldSleepOnTheCoreOfItsOnlyCallerAndBeFreeWhenAwake() {
        noteCallers(3, one, LAST);

        assertThat(coresOfSleep().stream()).containsExactly(LAST);
        assertThat(ThreadCore.allowed()).isEqualTo(ALLOWED);
    }

    @Test
    void shouldSleepAnywhereWhereTheCallerNamesNoCore() {
        noteCallers(3, one, LAST);

        place.noteCaller(one, YieldBeforeBlock.NO_CORE);

        assertThat(coresOfSleep()).isEqualTo(ALLOWED);
    }

    @Test
    void shouldSleepAnywhereWhileSeveralAsk() {
        for (int i = 0; i < 100; i++) {
            place.noteCaller(i % 8 == 0 ? other : one, LAST);

            assertThat(coresOfSleep()).as("request %s", i).isEqualTo(ALLOWED);
        }
    }

    @Test
    void shouldFollowACallerThatIsAloneAgain() {
        place.noteCaller(other, FIRST);

        noteCallers(17, one, LAST);

        assertThat(coresOfSleep().stream()).containsExactly(LAST);
    }

    @Test
    void shouldFollowACallerWhoMoves() {
        noteCallers(3, one, FIRST);

        noteCallers(3, one, LAST);

        assertThat(coresOfSleep().stream()).containsExactly(LAST);
    }

    @Test
    void shouldSleepAnywhereWhereACallerIsElsewhereEachTime() {
        for (int i = 0; i < 100; i++) {
            place.noteCaller(one, i % 2 == 0 ? LAST : YieldBeforeBlock.NO_CORE);

            assertThat(coresOfSleep()).as("request %s", i).isEqualTo(ALLOWED);
        }
    }

    private void noteCallers(int times, Object caller, int core) {
        for (int i = 0; i < times; i++) {
            place.noteCaller(caller, core);
        }
    }

    private BitSet coresOfSleep() {
        BitSet[] seen = new BitSet[1];
        place.sleep(() -> seen[0] = ThreadCore.allowed());
        return seen[0];
    }
}
