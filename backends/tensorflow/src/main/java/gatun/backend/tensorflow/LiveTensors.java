// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import java.util.concurrent.atomic.AtomicLong;

/** How many native tensors are alive, so that operators and tests can tell a leak. Safe for any thread. */
final class LiveTensors {
    private static final AtomicLong COUNT = new AtomicLong();

    private LiveTensors() {}

    static void made() {
        COUNT.incrementAndGet();
    }

    static void freed() {
        COUNT.decrementAndGet();
    }

    /** Tensors that were made or returned by a run, and not freed. */
    static long count() {
        return COUNT.get();
    }
}
