// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.placement.InlineRunLimiter;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Runs short tickets on the threads that bring them, by idle instances that are lent for that: to wake an instance's
 * thread would take longer. Safe for any thread.
 *
 * @param <T> what is to be run
 */
final class LentInstances<T extends Ticket> {
    private final ReentrantLock lock;
    private final BatchDispatcher<T> dispatcher;
    private final InstanceThreads<T> threads;
    private final InlineRunLimiter inlineRuns;

    /** Whether no runner is bound to its thread; asked under the lock. */
    private volatile boolean allowed;

    /**
     * Lends nothing before {@link #adjust}.
     *
     * @param lock guards the dispatcher
     * @param inlineRuns counts the runs on request threads, and limits them
     */
    LentInstances(
            ReentrantLock lock,
            BatchDispatcher<T> dispatcher,
            InstanceThreads<T> threads,
            InlineRunLimiter inlineRuns) {
        this.lock = lock;
        this.dispatcher = dispatcher;
        this.threads = threads;
        this.inlineRuns = inlineRuns;
    }

    /** Lends where the present runners let others run them. */
    void adjust() {
        allowed = threads.runners().stream().noneMatch(BatchRunner::isBoundToThread);
    }

    /** As {@link BatchDispatcher#lend}, where that may be, and a thread may be held. Called under the lock. */
    int lend(T ticket) {
        return allowed && dispatcher.mayLend(ticket) && inlineRuns.tryBegin(dispatcher.typicalRunNanos())
                ? dispatcher.lend(ticket)
                : Dispatcher.NONE;
    }

    /** Runs a ticket, for which {@code instance} was lent, on the calling thread. */
    void run(int instance, T ticket) {
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
        int woken;
        lock.lock();
        try {
            long now = System.nanoTime();
            dispatcher.ran(instance, ranNanos, waiting, now);
            woken = dispatcher.giveBack(instance, now);
        } finally {
            lock.unlock();
        }
        threads.wake(woken);
    }
}
