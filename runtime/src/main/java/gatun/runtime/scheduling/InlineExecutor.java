// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.placement.InlineRunLimiter;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import gatun.runtime.scheduling.InstanceThreads.DecisionLock;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntConsumer;

/**
 * Runs short requests on the submitting threads, by idle instances lent for that: waking an instance's thread takes
 * longer. {@linkplain InstanceOffers Without the lock} if nothing waits and requests share no runs. Thread-safe.
 */
final class InlineExecutor<T extends PendingRequest> {
    private final DecisionLock lock;
    private final BatchDispatcher<T> dispatcher;
    private final InstanceThreads<T> threads;
    private final InlineRunLimiter inlineRuns;
    private final InstanceOffers offers = new InstanceOffers();
    private final IntConsumer foundLent;
    private final LongAdder runs = new LongAdder();

    /** How long a run by an instance on offer will probably take. Written under the lock. */
    private volatile long typicalNanos;

    /** Whether no runner is bound to its thread. */
    private volatile boolean allowed;

    /** Lends nothing before {@link #adjust}; {@code lock} guards the dispatcher. */
    InlineExecutor(
            DecisionLock lock, BatchDispatcher<T> dispatcher, InstanceThreads<T> threads, InlineRunLimiter inlineRuns) {
        this.lock = lock;
        this.dispatcher = dispatcher;
        this.threads = threads;
        this.inlineRuns = inlineRuns;
        foundLent = dispatcher::noteLent;
    }

    /** Lends where the present runners let others run them. */
    void adjust() {
        allowed = threads.runners().stream().noneMatch(BatchRunner::isBoundToThread);
    }

    /** How many requests were run on the threads that brought them. */
    long runCount() {
        return runs.sum();
    }

    /** Has the dispatcher know of all loans. Called when the lock was taken. */
    void recall() {
        offers.recall(foundLent);
    }

    /** Puts on offer what the dispatcher need not decide upon. Called before the lock is given up. */
    void offer() {
        if (allowed && dispatcher.mayOffer()) {
            learnTypical();
            dispatcher.offer(offers);
        }
    }

    /** Runs a request on the calling thread, where an instance is on offer and the thread may be held. */
    boolean tryRun(T request) {
        int instance = offers.take();
        if (instance == Dispatcher.NONE) {
            return false;
        }
        if (!inlineRuns.tryBegin(typicalNanos)) {
            giveBack(instance, 0, 0);
            return false;
        }
        request.become(PendingRequest.State.RUNNING);
        run(instance, request);
        return true;
    }

    /** As {@link BatchDispatcher#lend}, where that may be, and a thread may be held. Called under the lock. */
    int lend(T request) {
        return allowed && dispatcher.mayLend(request) && inlineRuns.tryBegin(dispatcher.typicalRunNanos())
                ? dispatcher.lend(request)
                : Dispatcher.NONE;
    }

    /** Runs a request, for which {@code instance} was lent, on the calling thread. */
    void run(int instance, T request) {
        request.taken();
        runs.increment();
        long ranNanos = 0;
        try {
            ranNanos = threads.get(instance).runElsewhere(alone(request));
        } finally {
            int waiting = dispatcher.pendingCount();
            inlineRuns.end();
            if (!request.isDetached()) {
                request.completeHere();
            }
            giveBack(instance, ranNanos, waiting);
        }
    }

    @SuppressWarnings("unchecked") // it is what the list holds
    private List<T> alone(T request) {
        return (List<T>) request.alone();
    }

    private void giveBack(int instance, long ranNanos, int waiting) {
        long untoldNanos = ranNanos;
        // A long run may end the lending, and there is time for the lock.
        if (ranNanos < RunTimeEstimator.LONG_NANOS && offers.isTaken(instance)) {
            boolean due = ranNanos > 0 && offers.note(instance, ranNanos);
            untoldNanos = 0;
            boolean stays = (!due && RunTimeEstimator.isExpected(ranNanos, typicalNanos)) || tell(instance);
            if (stays && offers.giveBack(instance)) {
                return;
            }
        }
        int woken;
        lock.lock();
        try {
            long now = System.nanoTime();
            dispatcher.ranAlone(offers.runs(instance), offers.takeNanos(instance));
            if (untoldNanos > 0) {
                dispatcher.recordRun(instance, untoldNanos, waiting, now);
            }
            woken = dispatcher.giveBack(instance, now);
        } finally {
            lock.unlock();
        }
        threads.wake(woken);
    }

    /** Tells the dispatcher of this thread's runs, now or with the next. False once instances are not lent. */
    private boolean tell(int instance) {
        if (!lock.tryLockToLearn()) {
            return true;
        }
        try {
            dispatcher.ranAlone(offers.runs(instance), offers.takeNanos(instance));
            learnTypical();
            return dispatcher.mayOffer();
        } finally {
            lock.unlockToLearn();
        }
    }

    /** All cores read it, so it is written only where it has changed by a quarter. */
    private void learnTypical() {
        long next = dispatcher.typicalRunNanos();
        long before = typicalNanos;
        if (Math.abs(next - before) > before >> 2) {
            typicalNanos = next;
        }
    }

    /**
     * Idle instances that request threads take and give back without the scheduler's lock. Each has a word in cache lines
     * of its own, so that cores share none. Whoever locks first {@linkplain #recall recalls} all: an offered instance is
     * withheld, a taken one comes back under the lock. As both sides compare and set the same word, either the locker finds
     * it idle, or its borrower finds it withheld, locks, and sees what has come to the queue. No request is left lying.
     *
     * <pre> WITHHELD -> OFFERED <-> TAKEN -> WITHHELD
     *           OFFERED -> WITHHELD -> TAKEN, of one that was lent under the lock </pre>
     */
    static final class InstanceOffers {
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
}
