// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/** Whether a store failed lately and is left out; after growing pauses one request tries again. Thread-safe. */
final class StoreOutage {
    private static final long FIRST_PAUSE = Duration.ofSeconds(1).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofMinutes(1).toNanos();

    private final LongSupplier clock;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile boolean going;
    private long pause; // guarded by lock
    private long untilNanos; // guarded by lock

    /** @param clock nanoseconds, such as {@link System#nanoTime} */
    StoreOutage(LongSupplier clock) {
        this.clock = clock;
    }

    /** Whether a request may use the store: always, or when it is the one that tries again. */
    boolean admits() {
        if (!going) {
            return true;
        }
        lock.lock();
        try {
            long now = clock.getAsLong();
            if (going && now - untilNanos < 0) {
                return false;
            }
            untilNanos = now + pause; // the others wait for what this one finds
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The store failed. True where it had worked before. */
    boolean failed() {
        lock.lock();
        try {
            boolean first = !going;
            pause = first ? FIRST_PAUSE : Math.min(LONGEST_PAUSE, 2 * pause);
            untilNanos = clock.getAsLong() + pause;
            going = true;
            return first;
        } finally {
            lock.unlock();
        }
    }

    /** The store worked. True where it had failed before. */
    boolean worked() {
        if (!going) {
            return false;
        }
        lock.lock();
        try {
            boolean was = going;
            going = false;
            return was;
        } finally {
            lock.unlock();
        }
    }
}
