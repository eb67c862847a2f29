// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Counts the users of a resource. Calls {@code release} exactly once, on the thread of the last user to leave, when the
 * resource is retired or is to go when unused. Lock-free: count and both marks share one word.
 */
final class LeaseCount {
    private static final int RETIRED = Integer.MIN_VALUE;
    private static final int GOES_UNUSED = 1 << 30;
    private static final int USERS = GOES_UNUSED - 1;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(LeaseCount.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Runnable release;

    /** Sign bit: retired. The bit below: retires when there are no users. Lower bits: users. */
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

    void release() {
        change(-1, 0);
    }

    /** Lets nobody in any more; false where it was {@linkplain #isLeaving leaving} before. */
    boolean retire() {
        return change(0, RETIRED);
    }

    /** Retires once there are no users. False where it was {@linkplain #isLeaving leaving} before. */
    boolean retireWhenUnused() {
        return change(0, GOES_UNUSED);
    }

    int users() {
        return state & USERS;
    }

    boolean isLeaving() {
        return (state & (RETIRED | GOES_UNUSED)) != 0;
    }

    /** Changes the number of users and adds a mark; the last user of a marked one retires it. False if marked. */
    private boolean change(int users, int mark) {
        while (true) {
            int seen = state;
            int next = (seen + users) | mark;
            boolean ends = (next & USERS) == 0 && (next & (RETIRED | GOES_UNUSED)) != 0;
            if (seen < 0 && (seen & USERS) == 0) {
                return false; // It was let go before.
            }
            if (STATE.compareAndSet(this, seen, ends ? next | RETIRED : next)) {
                if (ends) {
                    release.run();
                }
                return (seen & (RETIRED | GOES_UNUSED)) == 0;
            }
        }
    }
}
