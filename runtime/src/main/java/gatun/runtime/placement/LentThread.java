// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.placement;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A platform thread's duty during a run: it hands its other work on before it waits. For that thread. */
public final class LentThread {
    private static final ThreadLocal<Runnable> TAKE_BACK = new ThreadLocal<>();

    private LentThread() {}

    /** From now on the calling thread has {@code takeBack} run before it waits for long. It may be run at any time. */
    public static void beginLending(Runnable takeBack) {
        TAKE_BACK.set(takeBack);
    }

    /** Whether others wait for the calling thread, so that it should run nothing that takes long. */
    static boolean isCurrent() {
        return takeBack() != null;
    }

    /** As {@link LockSupport#park(Object)}; where others wait for the calling thread, for a moment only. */
    public static void park(Object blocker) {
        if (!parkBriefly(blocker, RunPlacement.LONG_WAIT_NANOS)) {
            LockSupport.park(blocker);
        }
    }

    /** As {@link LockSupport#parkNanos(Object, long)}; where others wait for the calling thread, for a moment only. */
    public static void parkNanos(Object blocker, long nanos) {
        if (!parkBriefly(blocker, Math.min(nanos, RunPlacement.LONG_WAIT_NANOS))) {
            LockSupport.parkNanos(blocker, nanos);
        }
    }

    /** Parks if others wait for the calling thread, and lets another go on in its place once it has parked in vain. */
    private static boolean parkBriefly(Object blocker, long nanos) {
        Runnable takeBack = takeBack();
        if (takeBack == null) {
            return false;
        }
        long begunNanos = System.nanoTime();
        LockSupport.parkNanos(blocker, nanos);
        if (System.nanoTime() - begunNanos >= nanos) {
            TAKE_BACK.remove();
            takeBack.run();
        }
        return true;
    }

    private static @Nullable Runnable takeBack() {
        // A virtual thread would keep a table of values from then on.
        return Thread.currentThread().isVirtual() ? null : TAKE_BACK.get();
    }
}
