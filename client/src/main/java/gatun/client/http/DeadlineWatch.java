// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.calls.Deadline;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Closes the channels of calls that take too long. Owns one thread, which sleeps until the earliest deadline that it
 * saw, and for good while there is none: calls make no timers, and wake it only for an earlier one. Safe for any
 * thread.
 */
final class DeadlineWatch {
    private static final long NEVER = Long.MAX_VALUE;

    private final Set<WatchedChannel> channels;
    private final String name;
    /** Guards the start of {@link #thread}. */
    private final ReentrantLock lock = new ReentrantLock();

    private volatile @Nullable Thread thread;
    private volatile boolean closed;
    /** Whether every call has to wake the thread: it looks at the channels, or sleeps until it is called. */
    private volatile boolean sleepsUntilCalled = true;
    /** Until when it sleeps otherwise. */
    private volatile long wakesAt;

    /**
     * @param channels all that may be watched, which others add and remove
     * @param name of the thread
     */
    DeadlineWatch(Set<WatchedChannel> channels, String name) {
        this.channels = channels;
        this.name = name;
    }

    /** Watches a channel, which is among all of them, whose call began with this deadline. */
    void watch(Deadline deadline) {
        if (!deadline.isSet()) {
            return;
        }
        Thread running = thread;
        if (running == null) {
            start();
        } else if (sleepsUntilCalled || deadline.at() - wakesAt < 0) {
            LockSupport.unpark(running);
        }
    }

    void close() {
        closed = true;
        LockSupport.unpark(thread);
    }

    private void start() {
        lock.lock();
        try {
            if (thread == null && !closed) {
                // Its first look at the channels comes after the call began.
                thread = Thread.ofPlatform().daemon().name(name).start(this::run);
            } else {
                LockSupport.unpark(thread);
            }
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        while (!closed) {
            // From here until it sleeps, each call wakes it: one that this look misses is seen by the next.
            sleepsUntilCalled = true;
            long now = System.nanoTime();
            long soonest = NEVER;
            for (WatchedChannel channel : channels) {
                channel.expire(now);
                long due = channel.due();
                if ((due & 1) != 0) {
                    soonest = Math.min(soonest, due - now);
                }
            }
            if (soonest == NEVER) {
                LockSupport.park(this);
            } else {
                wakesAt = now + soonest;
                sleepsUntilCalled = false;
                LockSupport.parkNanos(this, Math.max(0, soonest));
            }
        }
    }
}
