// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Whose turn it is to read what a worker says: the process's own thread, so that everything is heard, or a thread that
 * waits for something due soon, since nobody has to wake it then. Thread-safe.
 */
final class ReaderElection {
    /** The own thread leaves the turn for so long after another has read: the next run may come soon. */
    private static final long LEFT_NANOS = Duration.ofMillis(5).toNanos();

    private final BooleanSupplier reading;
    private final ReentrantLock lock = new ReentrantLock();

    /** The own thread waits here. */
    private final Condition forOwner = lock.newCondition();

    /** Threads that wait for what the worker says, while another reads. */
    private final Condition forWaiters = lock.newCondition();

    // Guarded by lock.
    private boolean taken;
    private boolean over;
    private int waiters;

    /** How often the last of the waiters has left. */
    private long loans;

    private long lastLoanNanos = System.nanoTime() - LEFT_NANOS;

    /** Whether the own thread has given up looking at the clock, and is to be woken by the last waiter that leaves. */
    private boolean ownerSleeps;

    /** @param reading reads one frame, and handles it; false when there is none any more */
    ReaderElection(BooleanSupplier reading) {
        this.reading = reading;
    }

    /** Reads until nothing is left, except what waiting threads read meanwhile. For the own thread. */
    void readAll() {
        while (takeAsOwner()) {
            readOne();
        }
    }

    /** Reads until {@code done}, by the frames' handler, or nothing is left. Not interruptible. */
    void readUntil(BooleanSupplier done) {
        lock.lock();
        waiters++;
        try {
            while (takeAsWaiter(done)) {
                lock.unlock();
                try {
                    readOne();
                } finally {
                    lock.lock();
                }
            }
        } finally {
            leave();
            lock.unlock();
        }
    }

    private void readOne() {
        boolean more = false;
        try {
            more = reading.getAsBoolean();
        } finally {
            giveBack(more);
        }
    }

    private void giveBack(boolean more) {
        lock.lock();
        try {
            taken = false;
            if (!more) {
                over = true;
                forOwner.signal();
            }
            // All, since only they know whose frame that was. With one there is nobody here.
            forWaiters.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Called with the lock held, by a thread that is counted in waiters; false when it has nothing to wait for. */
    private boolean takeAsWaiter(BooleanSupplier done) {
        while (!over && !done.getAsBoolean()) {
            if (!taken) {
                taken = true;
                return true;
            }
            forWaiters.awaitUninterruptibly();
        }
        return false;
    }

    /** Called with the lock held. */
    private void leave() {
        waiters--;
        if (waiters == 0) {
            loans++;
            lastLoanNanos = System.nanoTime();
            if (ownerSleeps) {
                forOwner.signal();
            }
        }
    }

    private boolean takeAsOwner() {
        lock.lock();
        try {
            while (!over) {
                long left = LEFT_NANOS - (System.nanoTime() - lastLoanNanos);
                if (waiters > 0) {
                    awaitLoan();
                } else if (left > 0) {
                    long ignored = forOwner.awaitNanos(left);
                } else {
                    taken = true;
                    return true;
                }
            }
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException("the thread that reads what a worker says was interrupted", e);
        } finally {
            lock.unlock();
        }
    }

    /** Waits while others read: polls after short runs, as waking costs more, and sleeps through long ones. */
    private void awaitLoan() throws InterruptedException {
        long before = loans;
        long left = LEFT_NANOS;
        while (left > 0 && !over && waiters > 0 && loans == before) {
            left = forOwner.awaitNanos(left);
        }
        ownerSleeps = true;
        while (!over && waiters > 0 && loans == before) {
            forOwner.awaitUninterruptibly();
        }
        ownerSleeps = false;
    }
}
