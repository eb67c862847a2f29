// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** How many native objects are alive, so that operators and tests can tell a leak. Safe for any thread. */
final class LiveHandles {
    private static final AtomicLong SESSIONS = new AtomicLong();
    // Runs of all instances count here.
    private static final LongAdder VALUES = new LongAdder();

    private LiveHandles() {}

    static void sessionOpened() {
        SESSIONS.incrementAndGet();
    }

    static void sessionReleased() {
        SESSIONS.decrementAndGet();
    }

    static void valueCreated() {
        VALUES.increment();
    }

    static void valueReleased() {
        VALUES.decrement();
    }

    static long sessions() {
        return SESSIONS.get();
    }

    /** Values that were created or returned by a run, and not released. */
    static long values() {
        return VALUES.sum();
    }
}
