// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

/** A run of memory that is divided into small buffers of one size. Guarded by the lock of its {@link BufferBlocks}. */
final class Slab {
    /** Where it starts in the pool's address space. */
    final long offset;
    /** How many buffers it is divided into. */
    final int count;

    private int idle;
    /** The collection that {@link #idle} belongs to. */
    private int countedIn;

    Slab(long offset, int count) {
        this.offset = offset;
        this.count = count;
    }

    /** Notes that {@code collection}, a number that is new each time, found one of the buffers idle. */
    void countIdle(int collection) {
        if (countedIn != collection) {
            countedIn = collection;
            idle = 0;
        }
        idle++;
    }

    /** Whether the latest collection found every buffer idle. */
    boolean allIdle() {
        return idle == count;
    }
}
