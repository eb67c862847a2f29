// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BuddyBlocksTest {
    @Test
    void shouldTakeTheLowestFreeBlockFirst() {
        BuddyBlocks blocks = new BuddyBlocks(4, 6, 2);
        assertThat(blocks.take(4)).isEqualTo(0);
        assertThat(blocks.take(5)).isEqualTo(32);
        assertThat(blocks.take(4)).isEqualTo(16);
        assertThat(blocks.take(6)).isEqualTo(64);
        assertThat(blocks.take(4)).isEqualTo(BuddyBlocks.NONE);
    }

    @Test
    void shouldJoinNeighboursUntilTheLargestBlockIsWholeAgain() {
        BuddyBlocks blocks = new BuddyBlocks(4, 7, 1);
        for (int i = 0; i < 8; i++) {
            assertThat(blocks.take(4)).isEqualTo(16L * i);
        }
        for (int i : new int[] {3, 0, 6, 1, 7, 2, 5}) {
            blocks.give(16L * i, 4);
            assertThat(blocks.take(7)).isEqualTo(BuddyBlocks.NONE);
        }
        blocks.give(64, 4);
        assertThat(blocks.take(7)).isEqualTo(0);
    }

    @Test
    void shouldNeverLendTheSameBytesTwice() {
        Random random = new Random(99);
        BuddyBlocks blocks = new BuddyBlocks(0, 6, 2);
        List<long[]> lent = new ArrayList<>();
        Set<Long> bytes = new HashSet<>();
        for (int round = 0; round < 20_000; round++) {
            if (random.nextBoolean()) {
                int shift = random.nextInt(7);
                long offset = blocks.take(shift);
                if (offset == BuddyBlocks.NONE) {
                    continue;
                }
                assertThat(offset & ((1L << shift) - 1)).isZero();
                for (long at = offset; at < offset + (1L << shift); at++) {
                    assertThat(bytes.add(at)).as("byte %d", at).isTrue();
                }
                lent.add(new long[] {offset, shift});
            } else if (!lent.isEmpty()) {
                long[] block = lent.remove(random.nextInt(lent.size()));
                for (long at = block[0]; at < block[0] + (1L << block[1]); at++) {
                    bytes.remove(at);
                }
                blocks.give(block[0], (int) block[1]);
            }
        }
        for (long[] block : lent) {
            blocks.give(block[0], (int) block[1]);
        }
        assertThat(blocks.take(6)).isEqualTo(0);
        assertThat(blocks.take(6)).isEqualTo(64);
    }
}
