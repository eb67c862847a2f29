// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.memory.threads.SupervisedThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/** A task that runs each second on its own thread; others may wait for its turns. Thread-safe. */
final class Ticks implements AutoCloseable {
    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final LongConsumer work;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ticked = lock.newCondition(); // awaited by viewers
    private final Condition stopped = lock.newCondition(); // awaited by the thread

    // Guarded by lock.
    private boolean closed;
    private boolean ended;
    private long count;

    /** Runs {@code work} each second from now on, with the number of turns before; the first time at once. */
    Ticks(LongConsumer work) {
        this.work = work;
        SupervisedThread.start("console-sampler", this::run);
    }

    private void run() {
        long next = System.nanoTime();
        while (true) {
            work.accept(count());
            next += PERIOD_NANOS;
            lock.lock();
            try {
                count++;
                ticked.signalAll();
                long now = System.nanoTime();
                if (next - now < 0) {
                    next = now; // the machine was too busy, or asleep: what was missed is not made up for
                }
                while (!closed && next - System.nanoTime() > 0) {
                    stopped.awaitNanos(next - System.nanoTime());
                }
                if (closed) {
                    return;
                }
            } catch (InterruptedException e) {
                next = System.nanoTime(); // nobody has a reason to; it goes on a little earlier
            } finally {
                lock.unlock();
            }
        }
    }

    long count() {
        lock.lock();
        try {
            return count;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for more than {@code known} turns; returns how many, or less than 0 at the end or {@code givenUp}. */
    long await(long known, BooleanSupplier givenUp) {
        lock.lock();
        try {
            while (!ended && count <= known && !givenUp.getAsBoolean()) {
                ticked.awaitUninterruptibly();
            }
            return ended || givenUp.getAsBoolean() ? -1 : count;
        } finally {
            lock.unlock();
        }
    }

    /** Has those who wait look whether they have given up. */
    void wakeAll() {
        lock.lock();
        try {
            ticked.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Ends all waits; the task goes on. */
    void endWaiting() {
        lock.lock();
        try {
            ended = true;
            ticked.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean hasEnded() {
        lock.lock();
        try {
            return ended;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the thread soon. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            ended = true;
            ticked.signalAll();
            stopped.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
