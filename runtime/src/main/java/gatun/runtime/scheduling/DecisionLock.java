// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The lock that guards a scheduler's decisions. Held for a few steps only, and never while a ticket runs or a sequence is
 * closed. While it is held nobody borrows an instance.
 */
final class DecisionLock {
    private final ReentrantLock lock = new ReentrantLock();

    /** Null where no instance is ever lent. */
    private volatile @Nullable LentInstances<?> lent;

    /** Has the idle instances lent by {@code instances} while it is not held. */
    void guard(LentInstances<?> instances) {
        lent = instances;
    }

    @SuppressWarnings("LockNotBeforeTry") // unlock() is the other half
    void lock() {
        lock.lock();
        LentInstances<?> guarded = lent;
        if (guarded != null) {
            guarded.recall();
        }
    }

    /**
     * Takes the lock, unless somebody has it, and leaves instances where they are: for what is learned of runs only.
     * Ended by {@link #unlockToLearn}.
     */
    boolean tryLockToLearn() {
        return lock.tryLock();
    }

    void unlockToLearn() {
        lock.unlock();
    }

    void unlock() {
        try {
            LentInstances<?> guarded = lent;
            if (guarded != null) {
                guarded.offer();
            }
        } finally {
            lock.unlock();
        }
    }
}
