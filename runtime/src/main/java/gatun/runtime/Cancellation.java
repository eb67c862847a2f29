// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Lets others than the thread that waits for a response give the request up: one that waits for an instance leaves the
 * queue, one that runs has its engine told to stop. The waiting thread then gets CANCELLED, unless the response came
 * first. Safe for any thread.
 */
public final class Cancellation {
    /** The last value of {@link #state}, once the request was given up. */
    private static final Object CANCELLED = new Object();

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Cancellation.class, "state", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Cancels the request; null for none. A single field, since every request has one and few are cancelled. */
    private volatile @Nullable Object state;

    /** Of a request that has not begun. */
    public Cancellation() {}

    /** Gives the request up; only the first call does anything, and none does when it has been answered. */
    public void cancel() {
        if (STATE.getAndSet(this, CANCELLED) instanceof Runnable armed) {
            armed.run();
        }
    }

    /** Whether the request was given up. */
    @SuppressWarnings("ReferenceEquality") // CANCELLED is a mark
    public boolean isCancelled() {
        return state == CANCELLED;
    }

    /** Sets the action that cancels the request; false, and never run, when it was cancelled already. */
    public boolean arm(Runnable onCancel) {
        return replace(onCancel);
    }

    /** Says that there is nothing to give up any more. What was armed may still be running on another thread. */
    public void end() {
        replace(null);
    }

    /** Changes the state unless the request was given up; returns whether it changed it. */
    @SuppressWarnings("ReferenceEquality") // CANCELLED is a mark
    private boolean replace(@Nullable Runnable next) {
        for (Object seen = state; seen != CANCELLED; seen = state) {
            if (STATE.compareAndSet(this, seen, next)) {
                return true;
            }
        }
        return false;
    }
}
