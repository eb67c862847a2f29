// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Which sessions have a pool of threads of their own, and which run on the one of the process. One of its own answers
 * sooner, since its threads look for work between the operators of a run; but with many models there would be cores
 * times as many threads. Thread-safe.
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

    /**
     * Whether a session has a pool of its own; then it says {@link #giveBackOwn} when it is closed.
     *
     * @param asked whether its model says how many threads it is to have
     */
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
