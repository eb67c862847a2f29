// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

class ResponseBlocksTest {
    private static final long LARGE = 1 << 20;

    /** What is to be done after a period, which passes when a test says so. */
    private final Deque<Runnable> later = new ArrayDeque<>();

    private final ResponseBlocks blocks = new ResponseBlocks(later::add);

    private void passPeriod() {
        for (int waiting = later.size(); waiting > 0; waiting--) {
            later.remove().run();
        }
    }

    @Test
    void shouldHaveASizeForEachNumberOfBytesThatIsAQuarterLargerAtMost() {
        for (long byteSize = 0; byteSize < 1L << 40; byteSize += 1 + byteSize / 7) {
            long given = ResponseBlocks.byteSize(ResponseBlocks.size(byteSize));
            assertThat(given).isBetween(byteSize, Math.max(256, byteSize + byteSize / 4 + 1));
            assertThat(ResponseBlocks.size(given)).isEqualTo(ResponseBlocks.size(byteSize));
            assertThat(given % 64).isZero();
        }
    }

    @Test
    void shouldLendAgainWhatWasGivenBack() {
        ResponseBlocks.Block first = blocks.take(LARGE);
        ResponseBlocks.Block second = blocks.take(LARGE);
        assertThat(second.memory().address())
                .isNotEqualTo(first.memory().address())
                .isNotZero();
        blocks.give(first);
        assertThat(blocks.take(LARGE - 1).memory()).isSameAs(first.memory());
    }

    @Test
    void shouldFreeLargeBlocksThatWereIdleForAPeriod() {
        ResponseBlocks.Block used = blocks.take(LARGE);
        ResponseBlocks.Block idle = blocks.take(LARGE);
        ResponseBlocks.Block small = blocks.take(1000);
        blocks.give(used);
        blocks.give(idle);
        blocks.give(small);
        passPeriod();
        assertThat(idle.memory().scope().isAlive()).isTrue();
        // The latest that was given back is the first to be lent.
        blocks.give(blocks.take(LARGE));

        passPeriod();

        assertThat(idle.memory().scope().isAlive()).isTrue();
        assertThat(used.memory().scope().isAlive()).isFalse();
        assertThat(small.memory().scope().isAlive()).isTrue();
        passPeriod();
        assertThat(idle.memory().scope().isAlive()).isFalse();
        assertThat(later).isEmpty();
        blocks.give(blocks.take(LARGE));
        assertThat(later).hasSize(1);
    }
}
