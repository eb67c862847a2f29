// SPDX-License-Identifier: Apache-2.0
package gatun.client.lane;

import gatun.client.UnreachableException;
import gatun.client.calls.Deadline;
import gatun.lane.LaneMemory;
import gatun.lane.SlotLayout.SlotState;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The slots of a lane that no call uses. A slot whose call was given up comes back when the server is done with it. Safe
 * for any thread; allocates nothing.
 */
final class SlotPool {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final LaneMemory memory;
    private final Semaphore free;
    /** A bit for each free slot. */
    private final AtomicLong freeSlots;
    /** A bit for each slot that a call left before its answer came. */
    private final AtomicLong abandoned = new AtomicLong();

    /** @param count 64 at most */
    SlotPool(LaneMemory memory, int count) {
        this.memory = memory;
        this.free = new Semaphore(count);
        this.freeSlots = new AtomicLong(-1L >>> (Long.SIZE - count));
    }

    /**
     * Takes a slot; waits while all are used.
     *
     * @param wished the one to take where it is free
     * @param limit how long the call may take in all; zero for any time
     * @param deadlineNanos the reading of {@link System#nanoTime} at which it is late, where there is a limit
     * @throws gatun.client.ClientException when the deadline passes, or the thread is interrupted
     */
    int acquire(int wished, Duration limit, long deadlineNanos, String address) {
        takeBack();
        if (!free.tryAcquire()) {
            await(new Deadline(deadlineNanos, limit), address);
        }
        while (true) {
            long seen = freeSlots.get();
            int slot = (seen >>> wished & 1) == 1 ? wished : Long.numberOfTrailingZeros(seen);
            if (slot < Long.SIZE && freeSlots.compareAndSet(seen, seen & ~(1L << slot))) {
                return slot;
            }
        }
    }

    /** Gives a slot back that was answered. */
    void release(int slot) {
        freeSlots.getAndUpdate(seen -> seen | 1L << slot);
        free.release();
    }

    /** Leaves a slot to the server until that has answered. */
    void abandon(int slot) {
        abandoned.getAndUpdate(seen -> seen | 1L << slot);
    }

    private void await(Deadline deadline, String address) {
        try {
            while (!free.tryAcquire(
                    Math.min(LOOK_NANOS, Math.max(0, deadline.remainingNanos())), TimeUnit.NANOSECONDS)) {
                if (deadline.hasPassed()) {
                    throw deadline.exceeded("a slot of the lane", address);
                }
                takeBack();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UnreachableException(
                    "the thread was interrupted while it waited for a slot of the lane to " + address, e, false);
        }
    }

    private void takeBack() {
        for (long left = abandoned.get(); left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            long bit = 1L << slot;
            if (memory.state(slot) != SlotState.FILLED && (abandoned.getAndUpdate(seen -> seen & ~bit) & bit) != 0) {
                release(slot);
            }
        }
    }
}
