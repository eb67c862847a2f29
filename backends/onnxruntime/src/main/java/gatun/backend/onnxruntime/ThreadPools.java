// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Decides which sessions have threads of their own, which answer sooner as they look for work between operators, and
 * which share the process's: many models would have too many. Thread-safe.
 */
final class ThreadPools {
    /** So many sessions have pools of their own; those that come later share one. */
    static final int MOST_OWN = 16;

    private final Optional<Boolean> shared;
    private final AtomicInteger own = new AtomicInteger();

    /** @param shared whether all sessions share the pool; empty for the choice */
    ThreadPools(Optional<Boolean> shared) {
        this.shared = shared;
    }

    /** Whether a session gets its own pool, until {@link #giveBackOwn}; {@code asked} if its model sets the threads. */
    boolean takeOwn(boolean asked) {
        int count = own.incrementAndGet();
        if (!shared.orElse(!asked && count > MOST_OWN)) {
            return true;
        }
        own.decrementAndGet();
        return false;
    }

    /** A session with a pool of its own is closed, or was not opened. */
    void giveBackOwn() {
        own.decrementAndGet();
    }
}
