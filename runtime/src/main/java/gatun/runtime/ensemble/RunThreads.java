// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** The threads of one request to an ensemble, and the lock of its state, which most methods need held. */
final class RunThreads {
    private final ReentrantLock lock = new ReentrantLock();

    /** Awaited by whoever waits for a response, for room or for the last thread; signalled for all of that. */
    private final Condition changed = lock.newCondition();

    private int count;

    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    /** Counts threads that are about to work. */
    void begin(int more) {
        count += more;
    }

    void end() {
        count--;
        if (count == 0) {
            changed.signalAll();
        }
    }

    /** Wakes the waiting threads, to look again. */
    void changed() {
        changed.signalAll();
    }

    /** Waits until {@code reached} says so, which looks at what the lock guards; without the lock meanwhile. */
    void awaitUntil(BooleanSupplier reached) {
        while (!reached.getAsBoolean()) {
            changed.awaitUninterruptibly();
        }
    }

    /** Waits until no thread works any more. */
    void awaitNone() {
        lock.lock();
        try {
            awaitUntil(() -> count == 0);
        } finally {
            lock.unlock();
        }
    }
}
