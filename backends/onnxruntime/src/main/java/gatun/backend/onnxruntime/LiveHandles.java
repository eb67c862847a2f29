// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.concurrent.atomic.AtomicLong;

/** How many native objects are alive, so that operators and tests can tell a leak. Safe for any thread. */
final class LiveHandles {
    private static final AtomicLong SESSIONS = new AtomicLong();
    private static final AtomicLong VALUES = new AtomicLong();

    private LiveHandles() {}

    static void sessionOpened() {
        SESSIONS.incrementAndGet();
    }

    static void sessionReleased() {
        SESSIONS.decrementAndGet();
    }

    static void valueCreated() {
        VALUES.incrementAndGet();
    }

    static void valueReleased() {
        VALUES.decrementAndGet();
    }

    /** Sessions that were opened and not released. */
    static long sessions() {
        return SESSIONS.get();
    }

    /** Values that were created or returned by a run, and not released. */
    static long values() {
        return VALUES.get();
    }
}
