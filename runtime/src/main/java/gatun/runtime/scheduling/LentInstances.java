// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.placement.InlineRunLimiter;
import gatun.runtime.placement.RunTimeEstimator;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntConsumer;

/**
 * Runs short tickets on the submitting threads, by idle instances lent for that: waking an instance's thread takes
 * longer. {@linkplain InstanceOffers Without the lock} if nothing waits and tickets share no runs. Thread-safe.
 */
final class LentInstances<T extends Ticket> {
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
    LentInstances(
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

    /** How many tickets were run on the threads that brought them. */
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

    /** Runs a ticket on the calling thread, where an instance is on offer and the thread may be held. */
    boolean tryRun(T ticket) {
        int instance = offers.take();
        if (instance == Dispatcher.NONE) {
            return false;
        }
        if (!inlineRuns.tryBegin(typicalNanos)) {
            giveBack(instance, 0, 0);
            return false;
        }
        ticket.become(Ticket.State.RUNNING);
        run(instance, ticket);
        return true;
    }

    /** As {@link BatchDispatcher#lend}, where that may be, and a thread may be held. Called under the lock. */
    int lend(T ticket) {
        return allowed && dispatcher.mayLend(ticket) && inlineRuns.tryBegin(dispatcher.typicalRunNanos())
                ? dispatcher.lend(ticket)
                : Dispatcher.NONE;
    }

    /** Runs a ticket, for which {@code instance} was lent, on the calling thread. */
    void run(int instance, T ticket) {
        ticket.taken();
        runs.increment();
        long ranNanos = 0;
        try {
            ranNanos = threads.get(instance).runElsewhere(alone(ticket));
        } finally {
            int waiting = dispatcher.pendingCount();
            inlineRuns.end();
            if (!ticket.isDetached()) {
                ticket.completeHere();
            }
            giveBack(instance, ranNanos, waiting);
        }
    }

    @SuppressWarnings("unchecked") // it is what the list holds
    private List<T> alone(T ticket) {
        return (List<T>) ticket.alone();
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
                dispatcher.ran(instance, untoldNanos, waiting, now);
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
}
