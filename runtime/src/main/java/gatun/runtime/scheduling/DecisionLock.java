// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.concurrent.locks.ReentrantLock;

/** The lock of a scheduler's decisions: held briefly, never during runs. Under it nobody borrows an instance. */
final class DecisionLock {
    private final ReentrantLock lock = new ReentrantLock();
    private volatile Runnable taken = () -> {};
    private volatile Runnable leaving = () -> {};

    /** Lends idle instances while it is not held: {@code recall} runs after locking, {@code offer} before unlocking. */
    void guard(Runnable recall, Runnable offer) {
        taken = recall;
        leaving = offer;
    }

    @SuppressWarnings("LockNotBeforeTry") // unlock() is the other half
    void lock() {
        lock.lock();
        taken.run();
    }

    void unlock() {
        try {
            leaving.run();
        } finally {
            lock.unlock();
        }
    }

    /** Takes the lock if it is free, without moving instances: to learn from runs. Ended by {@link #unlockToLearn}. */
    boolean tryLockToLearn() {
        return lock.tryLock();
    }

    void unlockToLearn() {
        lock.unlock();
    }
}
