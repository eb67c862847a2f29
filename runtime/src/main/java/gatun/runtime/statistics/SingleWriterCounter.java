// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.statistics;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A number that one thread adds to, by ordered stores, and any reads: a moment old, never torn. */
final class SingleWriterCounter {
    private static final VarHandle VALUE = field();

    private long value;

    /** Adds; only ever by the same thread. */
    void add(long delta) {
        set(value + delta);
    }

    /** Replaces; only ever by the thread that adds. */
    void set(long next) {
        VALUE.setRelease(this, next);
    }

    long get() {
        return (long) VALUE.getAcquire(this);
    }

    private static VarHandle field() {
        try {
            return MethodHandles.lookup().findVarHandle(SingleWriterCounter.class, "value", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
