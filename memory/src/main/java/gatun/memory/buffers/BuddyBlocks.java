// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import java.util.BitSet;

/**
 * Divides a range of address space into blocks whose sizes are powers of two; touches no memory. Guarded by the lock of
 * {@link BufferPool}. Lends the lowest free offset, so that lent blocks stay together and large ones whole at the top.
 */
final class BuddyBlocks {
    /** Result of {@link #take} when no block of that size is free. */
    static final long NONE = -1;

    private final int smallestShift;
    private final int largestShift;
    /** Free blocks of each order by number: block {@code n} of order {@code k} starts at {@code n << k}. */
    private final BitSet[] free;

    /** Blocks of {@code 1 << smallestShift} to {@code 1 << largestShift} bytes; {@code count} of the largest fit. */
    BuddyBlocks(int smallestShift, int largestShift, int count) {
        this.smallestShift = smallestShift;
        this.largestShift = largestShift;
        this.free = new BitSet[largestShift - smallestShift + 1];
        for (int i = 0; i < free.length; i++) {
            free[i] = new BitSet();
        }
        free[largestShift - smallestShift].set(0, count);
    }

    /** Takes a block of {@code 1 << shift} bytes and returns its offset, or {@link #NONE}. */
    long take(int shift) {
        int from = shift;
        int number = -1;
        while (from <= largestShift) {
            number = order(from).nextSetBit(0);
            if (number >= 0) {
                break;
            }
            from++;
        }
        if (number < 0) {
            return NONE;
        }
        order(from).clear(number);
        while (from > shift) {
            from--;
            number <<= 1;
            order(from).set(number + 1);
        }
        return (long) number << shift;
    }

    /** Gives back the block of {@code 1 << shift} bytes at {@code offset} and joins it with its free neighbours. */
    void give(long offset, int shift) {
        int at = shift;
        int number = (int) (offset >>> shift);
        while (at < largestShift && order(at).get(number ^ 1)) {
            order(at).clear(number ^ 1);
            number >>>= 1;
            at++;
        }
        assert !order(at).get(number) : "the block at " + offset + " was given back twice";
        order(at).set(number);
    }

    private BitSet order(int shift) {
        return free[shift - smallestShift];
    }
}
