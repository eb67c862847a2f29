// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.memory.tensor.Hold;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The readers of the stream of events, {@value #LIMIT} at most: one more replaces one of the network that has the most,
 * so that no client keeps others out. Thread-safe.
 */
final class Viewers {
    static final int LIMIT = 32;

    /** A viewer that has not taken an event for so long reads none. */
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final LongSupplier nanoClock;
    private final Runnable wakeAll;
    private final ReentrantLock lock = new ReentrantLock();

    /** Guarded by lock. */
    private final Set<Viewer> viewers = new HashSet<>();

    /** {@code nanoClock} is as {@link System#nanoTime}; {@code wakeAll} wakes waiting viewers, with no lock held. */
    Viewers(LongSupplier nanoClock, Runnable wakeAll) {
        this.nanoClock = nanoClock;
        this.wakeAll = wakeAll;
    }

    /** A viewer of the events; closed by its thread when it is none any more. */
    final class Viewer implements Hold {
        private final Object network;
        private final Thread thread;
        private final long since;
        private volatile long lastSent;
        private volatile boolean replaced;

        private Viewer(Object network, Thread thread, long since) {
            this.network = network;
            this.thread = thread;
            this.since = since;
            this.lastSent = since;
        }

        void sent() {
            lastSent = nanoClock.getAsLong();
        }

        /** Whether another viewer has its place, so that its stream is to end. */
        boolean isReplaced() {
            return replaced;
        }

        private void giveWay(boolean idle) {
            viewers.remove(this);
            replaced = true;
            if (idle) {
                thread.interrupt(); // it waits for its client to read
            }
        }

        @Override
        public void close() {
            lock.lock();
            try {
                viewers.remove(this);
                if (replaced && Thread.interrupted()) {
                    return; // it waited for nothing at that moment, and goes on with its client's next request
                }
            } finally {
                lock.unlock();
            }
        }
    }

    /** Makes the calling thread a viewer; {@code network} tells its client from others. */
    Viewer enter(Object network) {
        Viewer replaced = null;
        Viewer viewer = new Viewer(network, Thread.currentThread(), nanoClock.getAsLong());
        lock.lock();
        try {
            if (viewers.size() >= LIMIT) {
                replaced = longestIdle(network, viewer.since);
                replaced.giveWay(isIdle(replaced, viewer.since));
            }
            viewers.add(viewer);
        } finally {
            lock.unlock();
        }
        if (replaced != null) {
            wakeAll.run();
        }
        return viewer;
    }

    /** The viewer to replace: of the new one's network where that has as many as any, else of one that has the most. */
    private Viewer longestIdle(Object network, long now) {
        Map<Object, Integer> counts = new HashMap<>();
        viewers.forEach(viewer -> counts.merge(viewer.network, 1, Integer::sum));
        int most = counts.values().stream().mapToInt(Integer::intValue).max().orElse(0);
        boolean own = counts.getOrDefault(network, 0) == most;
        return viewers.stream()
                .filter(viewer -> own ? viewer.network.equals(network) : counts.getOrDefault(viewer.network, 0) == most)
                .min(Comparator.comparing((Viewer viewer) -> !isIdle(viewer, now))
                        .thenComparing((a, b) -> Long.signum(a.since - b.since)))
                .orElseThrow();
    }

    private static boolean isIdle(Viewer viewer, long now) {
        return now - viewer.lastSent > IDLE_NANOS;
    }

    int count() {
        lock.lock();
        try {
            return viewers.size();
        } finally {
            lock.unlock();
        }
    }

    /** Interrupts those that wait for their client to read, which ends their connections. */
    void interrupt() {
        lock.lock();
        try {
            viewers.forEach(viewer -> viewer.thread.interrupt());
        } finally {
            lock.unlock();
        }
    }
}
