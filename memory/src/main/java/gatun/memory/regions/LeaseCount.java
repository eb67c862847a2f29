// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts who uses a resource, and lets it go when it was retired and the last user has left. Count and "retired" share
 * one word, so there is no gap between looking at one and changing the other. Lock-free; {@code release} runs exactly
 * once, on whichever thread is last.
 */
final class LeaseCount {
    private static final int RETIRED = Integer.MIN_VALUE;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(LeaseCount.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Runnable release;

    /** Sign bit: retired. Lower bits: users. */
    private volatile int state;

    LeaseCount(Runnable release) {
        this.release = release;
    }

    /** Becomes a user; false when the resource is retired. */
    boolean tryAcquire() {
        for (int seen = state; seen >= 0; seen = state) {
            if (STATE.compareAndSet(this, seen, seen + 1)) {
                return true;
            }
        }
        return false;
    }

    /** Ends one use. */
    void release() {
        if ((int) STATE.getAndAdd(this, -1) == RETIRED + 1) {
            release.run();
        }
    }

    /** Lets nobody in any more; a second call does nothing. */
    void retire() {
        if ((int) STATE.getAndBitwiseOr(this, RETIRED) == 0) {
            release.run();
        }
    }
}
