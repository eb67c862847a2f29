// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.runtime.ensemble.EnsemblePlan.EnsembleStep;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/** The limits of the steps of one ensemble, which all its requests have in common. Safe for any thread. */
final class StepLimits {
    /** One for each step; empty where there is no limit. */
    private final List<StepLimit> limits;

    /** @param limit how many runs of each may be under way; 0 for any number */
    StepLimits(int stepCount, int limit) {
        limits = IntStream.range(0, limit == 0 ? 0 : stepCount)
                .mapToObj(step -> new StepLimit(limit))
                .toList();
    }

    /** As {@link StepLimit#enter}. */
    boolean enter(EnsembleStep step, BooleanSupplier cancelled) {
        return limits.isEmpty() || limits.get(step.index()).enter(cancelled);
    }

    /** As {@link StepLimit#leave}. */
    void leave(EnsembleStep step) {
        if (!limits.isEmpty()) {
            limits.get(step.index()).leave();
        }
    }

    /** Has all runs that wait look whether they are still wanted. */
    void lookAgain() {
        for (StepLimit limit : limits) {
            limit.lookAgain();
        }
    }

    /** Limits an ensemble step's runs by {@code max_inflight_requests}, first come, first served. Thread-safe. */
    static final class StepLimit {
        private final int limit;
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition changed = lock.newCondition(); // awaited by runs that wait for their turn

        // Guarded by lock.
        private final Queue<Thread> waiting = new ArrayDeque<>();
        private int running;

        StepLimit(int limit) {
            this.limit = limit;
        }

        /** Waits for a turn, until {@link #leave}; false if {@code cancelled}, whose change must {@link #lookAgain}. */
        boolean enter(BooleanSupplier cancelled) {
            Thread own = Thread.currentThread();
            lock.lock();
            try {
                waiting.add(own);
                while (!cancelled.getAsBoolean() && (running >= limit || !own.equals(waiting.peek()))) {
                    changed.awaitUninterruptibly();
                }
                waiting.remove(own);
                changed.signalAll();
                if (cancelled.getAsBoolean()) {
                    return false;
                }
                running++;
                return true;
            } finally {
                lock.unlock();
            }
        }

        void leave() {
            lock.lock();
            try {
                running--;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }

        /** Has runs that wait look whether they are still wanted. */
        void lookAgain() {
            lock.lock();
            try {
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }
}
