// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.ThreadCore;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Has runs that are beside one another begin on cores of their own. The kernel places a thread where it woke up, and
 * may let two that compute share one core for some milliseconds while another is idle, which is longer than most runs.
 * Thread-safe. Its knowledge is a guess, since a thread may be moved meanwhile; a wrong guess only costs a run some
 * time.
 */
final class RunCores {
    /** A core that nobody counts. */
    static final int NONE = -1;

    /** How many runs have begun on each core and not ended. */
    private final AtomicIntegerArray runs;

    private final int[] allowed;

    /** @param allowed the cores that runs may be on, by their numbers */
    RunCores(BitSet allowed) {
        this.allowed = allowed.stream().toArray();
        runs = new AtomicIntegerArray(allowed.length());
    }

    /** A run begins on the calling thread, which is perhaps moved to another core. The core, for {@link #leave}. */
    int enter() {
        int core = ThreadCore.current();
        if (core < 0 || core >= runs.length()) {
            return NONE;
        }
        if (runs.getAndIncrement(core) == 0) {
            return core;
        }
        int free = takeFree();
        if (free != NONE && ThreadCore.moveTo(free)) {
            leave(core);
            return free;
        }
        leave(free);
        return core;
    }

    private int takeFree() {
        for (int core : allowed) {
            if (runs.compareAndSet(core, 0, 1)) {
                return core;
            }
        }
        return NONE;
    }

    /** The run has ended that began on {@code core}. */
    void leave(int core) {
        if (core != NONE) {
            runs.decrementAndGet(core);
        }
    }
}
