// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.threads.SupervisedThread;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Notices when a thread of lanes is held up by a run. Looks each millisecond while there are runs on such threads, less
 * often where they serve one lane only, and sleeps otherwise. Safe for any thread.
 */
final class RunWatch {
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** Where only one lane's requests could wait: each look takes a core from the lane or its client for a moment. */
    private static final long ALONE_PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(8);

    /** After as many looks without a run in between, it sleeps. */
    private static final int IDLE_LOOKS = 50;

    private final Set<LaneThread> threads = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean awake = new AtomicBoolean();
    private final Thread watcher = SupervisedThread.unstarted("lane-watch", this::watch);
    private volatile boolean closed;

    /** Watches no thread yet. */
    RunWatch() {
        watcher.start();
    }

    void add(LaneThread thread) {
        threads.add(thread);
    }

    void remove(LaneThread thread) {
        threads.remove(thread);
    }

    /** A run begins on one of the threads. Costs a read of a flag while the watch is awake. */
    void wakeUp() {
        if (!awake.get() && awake.compareAndSet(false, true)) {
            LockSupport.unpark(watcher);
        }
    }

    /** Requests may have to wait for others from now on, which had nothing to wait for before. */
    void lookSoon() {
        LockSupport.unpark(watcher);
    }

    /** Ends the watch. */
    void close() {
        closed = true;
        wakeUp();
        LockSupport.unpark(watcher);
    }

    private void watch() {
        int idleLooks = 0;
        while (!closed) {
            if (idleLooks < IDLE_LOOKS) {
                LockSupport.parkNanos(this, isOneLane() ? ALONE_PERIOD_NANOS : PERIOD_NANOS);
                idleLooks = look() ? 0 : idleLooks + 1;
            } else {
                awake.set(false);
                // A run that begins from now on sees that this sleeps; one that began before is seen here.
                if (look()) {
                    wakeUp();
                }
                while (!awake.get() && !closed) {
                    LockSupport.park(this);
                }
                idleLooks = 0;
            }
        }
    }

    private boolean isOneLane() {
        int lanes = 0;
        for (LaneThread thread : threads) {
            lanes += thread.laneCount();
        }
        return lanes == 1;
    }

    private boolean look() {
        boolean active = false;
        for (LaneThread thread : threads) {
            active |= thread.checkRun();
        }
        return active;
    }
}
