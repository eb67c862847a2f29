package gatun.runtime;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Lets others than the thread that waits for a request's answer give the request up: one that waits for an instance leaves the queue, one
 * that runs has its engine told to stop. The waiting thread then gets CANCELLED, unless the answer came first. Safe for any thread.
 */
public final class Cancellation {
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private @Nullable Runnable action;
    private boolean cancelled;

    /** Of a request that has not begun. */
    public Cancellation() {}

    /** Gives the request up; only the first call does anything, and none does when it has been answered. */
    public void cancel() {
        Runnable armed;
        lock.lock();
        try {
            armed = cancelled ? null : action;
            cancelled = true;
        } finally {
            lock.unlock();
        }
        if (armed != null) {
            armed.run();
        }
    }

    /** Says what giving up means from now on; false when the request was given up already, and then it will not be run. */
    public boolean arm(Runnable onCancel) {
        lock.lock();
        try {
            action = onCancel;
            return !cancelled;
        } finally {
            lock.unlock();
        }
    }

    /** Says that there is nothing to give up any more. What was armed may still be running on another thread. */
    public void end() {
        lock.lock();
        try {
            action = null;
        } finally {
            lock.unlock();
        }
    }
}
