// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Lets one call at a time use {@link SharedTensors}, and none after they were closed. Safe for any thread. */
final class ExclusiveUse {
    private enum State {
        IDLE,
        RUNNING,
        CLOSED
    }

    private final String model;
    private final String region;
    private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);
    /** The thread of a call that was cancelled and may still be ending. */
    private volatile @Nullable Thread cancelled;

    ExclusiveUse(String model, String region) {
        this.model = model;
        this.region = region;
    }

    /** Begins a call. Throws {@link IllegalStateException} while another one runs, or when the tensors are closed. */
    void begin() {
        awaitCancelled();
        State found = state.compareAndExchange(State.IDLE, State.RUNNING);
        if (found != State.IDLE) {
            throw refusal(found == State.CLOSED, "this call");
        }
    }

    void end() {
        state.set(State.IDLE);
    }

    /** Ends the call that has begun, and lets none follow. */
    void close() {
        state.set(State.CLOSED);
    }

    boolean isClosed() {
        return state.get() == State.CLOSED;
    }

    /** Cancels the call of thread {@code caller}, which ends soon. */
    void cancel(Thread caller) {
        cancelled = caller;
        caller.interrupt();
    }

    /** Throws {@link IllegalStateException} while a call runs or after close, which forbid {@code use}. */
    void requireIdle(String use, String name) {
        State now = state.get();
        if (now != State.IDLE) {
            awaitCancelled();
            now = state.get();
        }
        if (now != State.IDLE) {
            throw refusal(now == State.CLOSED, use + " of '" + name + "'");
        }
    }

    private IllegalStateException refusal(boolean closed, String what) {
        return new IllegalStateException(
                closed
                        ? "the shared tensors of model '" + model + "' were closed: open others for " + what
                        : "region still in use: an inference of model '" + model + "' runs in region '" + region
                                + "'; wait for its end before " + what);
    }

    /** A call that was cancelled ends at once, but not at the same moment. */
    private void awaitCancelled() {
        Thread ending = cancelled;
        if (ending == null) {
            return;
        }
        try {
            ending.join();
            cancelled = null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
