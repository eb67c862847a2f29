// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntConsumer;

/**
 * Idle instances that request threads take and give back without the scheduler's lock. Each has a word in cache lines
 * of its own, so that cores share none. Whoever locks first {@linkplain #recall recalls} all: an offered instance is
 * withheld, a taken one comes back under the lock. As both sides compare and set the same word, either the locker finds
 * it idle, or its borrower finds it withheld, locks, and sees what has come to the queue. No ticket is left lying.
 *
 * <pre> WITHHELD -> OFFERED <-> TAKEN -> WITHHELD
 *           OFFERED -> WITHHELD -> TAKEN, of one that was lent under the lock </pre>
 */
final class InstanceOffers {
    /** Left to whoever holds the lock; where it is lent, it is given back under the lock. */
    private static final long WITHHELD = 0;

    /** Idle; whoever swaps it to {@link #TAKEN} has it. */
    private static final long OFFERED = 1;

    /** Lent; whoever has it swaps it back to {@link #OFFERED}. */
    private static final long TAKEN = 2;

    /** Runs of an instance that the dispatcher hears of together: the lock is taken once for as many. */
    static final int RUNS_TO_A_NOTE = 256;

    /** Spreads numbers of threads, which follow each other, over all bits. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    /** By instance; replaced as a whole under the lock. */
    private volatile Slot[] slots = {};

    /** Whether an instance may be on offer. Written under the lock. */
    private volatile boolean open;

    /** What an instance is to request threads, and the runs that the dispatcher has not heard of, of whoever has it. */
    private static final class Slot {
        /** Longs in 128 bytes: processors fetch cache lines in pairs. */
        private static final int PADDING = 16;

        private static final int STATE = PADDING;
        private static final int RUNS = STATE + 1;
        private static final int NANOS = STATE + 2;

        private final AtomicLongArray cells = new AtomicLongArray(STATE + 1 + PADDING);

        boolean swap(long from, long to) {
            return cells.get(STATE) == from && cells.compareAndSet(STATE, from, to);
        }
    }

    /** An instance, the calling thread's from now on; {@link Dispatcher#NONE} when none is on offer. Any thread. */
    int take() {
        if (!open) {
            return Dispatcher.NONE;
        }
        Slot[] all = slots;
        // A thread looks for the same one first each time, whose memory is in its caches, and different threads for
        // different ones.
        long spread = (Thread.currentThread().threadId() * SPREAD) >>> Integer.SIZE;
        int first = (int) ((spread * all.length) >>> Integer.SIZE);
        for (int i = first; i < all.length; i++) {
            if (all[i].swap(OFFERED, TAKEN)) {
                return i;
            }
        }
        for (int i = 0; i < first; i++) {
            if (all[i].swap(OFFERED, TAKEN)) {
                return i;
            }
        }
        return Dispatcher.NONE;
    }

    /** Whether the calling thread, which has the instance, may probably give it back without the lock. */
    boolean isTaken(int instance) {
        Slot[] all = slots;
        return instance < all.length && all[instance].cells.get(Slot.STATE) == TAKEN;
    }

    /** Notes a run by an instance that the calling thread has; whether the dispatcher should hear of it soon. */
    boolean note(int instance, long nanos) {
        AtomicLongArray cells = slots[instance].cells;
        long runs = cells.getPlain(Slot.RUNS) + 1;
        cells.setPlain(Slot.RUNS, runs);
        cells.setPlain(Slot.NANOS, cells.getPlain(Slot.NANOS) + nanos);
        return runs >= RUNS_TO_A_NOTE;
    }

    /** How many runs by an instance, which the calling thread has, were noted. */
    int runs(int instance) {
        return instance < slots.length ? (int) slots[instance].cells.getPlain(Slot.RUNS) : 0;
    }

    /** How long these took, together; they are forgotten now. */
    long takeNanos(int instance) {
        if (runs(instance) == 0) {
            return 0;
        }
        AtomicLongArray cells = slots[instance].cells;
        long nanos = cells.getPlain(Slot.NANOS);
        cells.setPlain(Slot.RUNS, 0);
        cells.setPlain(Slot.NANOS, 0);
        return nanos;
    }

    /** Gives an instance back that the calling thread has; false when that is to be done under the lock. */
    boolean giveBack(int instance) {
        return slots[instance].swap(TAKEN, OFFERED);
    }

    // From here on under the scheduler's lock.

    void offer(int instance) {
        slot(instance).cells.set(Slot.STATE, OFFERED);
        open = true;
    }

    /** Lets whoever has an instance give it back without the lock. */
    void release(int instance) {
        slot(instance).cells.set(Slot.STATE, TAKEN);
        open = true;
    }

    /** Withholds all. Tells {@code lent} which of them are with request threads. */
    void recall(IntConsumer lent) {
        if (!open) {
            return;
        }
        open = false;
        Slot[] all = slots;
        for (int i = 0; i < all.length; i++) {
            while (all[i].cells.get(Slot.STATE) != WITHHELD) {
                if (all[i].swap(TAKEN, WITHHELD)) {
                    lent.accept(i);
                } else {
                    all[i].swap(OFFERED, WITHHELD);
                }
            }
        }
    }

    private Slot slot(int instance) {
        Slot[] all = slots;
        if (instance >= all.length) {
            Slot[] more = Arrays.copyOf(all, instance + 1);
            for (int i = all.length; i <= instance; i++) {
                more[i] = new Slot();
            }
            slots = more;
            all = more;
        }
        return all[instance];
    }
}
