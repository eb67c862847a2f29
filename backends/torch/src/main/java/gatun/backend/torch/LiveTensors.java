// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import java.util.concurrent.atomic.AtomicLong;

/** How many native tensors are alive, so that operators and tests can tell a leak. Safe for any thread. */
final class LiveTensors {
    private static final AtomicLong COUNT = new AtomicLong();

    private LiveTensors() {}

    static void made(int count) {
        COUNT.addAndGet(count);
    }

    static void freed(int count) {
        COUNT.addAndGet(-count);
    }

    /** Tensors that were made or returned by a run, and not freed. */
    static long count() {
        return COUNT.get();
    }
}
