// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Counts the requests that are being answered, so that a model can wait for the last. Thread-safe. */
final class EnsembleRequests {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition none = lock.newCondition(); // awaited by close, signalled by the last request

    // Guarded by lock.
    private int count;
    private boolean closing;

    /** Counts one more, which must {@linkplain #leave leave}; false when none is admitted any more. */
    boolean enter() {
        lock.lock();
        try {
            if (closing) {
                return false;
            }
            count++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    void leave() {
        lock.lock();
        try {
            count--;
            if (count == 0) {
                none.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether no request is admitted any more. */
    boolean isClosing() {
        lock.lock();
        try {
            return closing;
        } finally {
            lock.unlock();
        }
    }

    int count() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }

    /** Admits no more and waits for the last one; false when that takes longer than {@code grace}. */
    boolean close(Duration grace) {
        lock.lock();
        try {
            closing = true;
            long left = grace.toNanos();
            while (count > 0 && left > 0) {
                left = none.awaitNanos(left);
            }
            return count == 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }
}
