// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.memory.tensor.Hold;
import org.jspecify.annotations.Nullable;

/**
 * Requests that run one after the other: those that wait, and the slot of an instance once there is one. Guarded by the
 * scheduler's lock, but for what the instance's thread does with it during a run.
 */
public final class Sequence extends IntrusiveList.Node<Sequence> {
    static final int NONE = -1;

    private final Object id;

    /** The steps that wait, in the order of the client. */
    final IntrusiveList<PendingRequest> waiting = new IntrusiveList<>();

    private int instance = NONE;
    private int slot = NONE;
    boolean running;

    /** Whether the step that ends it was submitted, or one was given up: no more steps come. */
    boolean closed;

    /** Whether the next step that comes begins it, whatever the client says: the one that should have was not taken. */
    private boolean startDue;

    long idleSince;

    /** Written and read by the instance's thread during runs, and by whoever ends the sequence afterwards. */
    private @Nullable Hold state;

    /** A sequence without a slot. */
    Sequence(Object id) {
        this.id = id;
    }

    Object id() {
        return id;
    }

    int instance() {
        return instance;
    }

    /** Its place among the sequences of its instance, from 0; its own from its first step to its last. */
    public int slot() {
        return slot;
    }

    boolean hasSlot() {
        return slot != NONE;
    }

    void place(int newInstance, int newSlot) {
        instance = newInstance;
        slot = newSlot;
    }

    /** The state that {@link #keep} was given last; null before. For the thread of the instance, during a run. */
    public @Nullable Hold state() {
        return state;
    }

    /** Keeps the model's memory of this sequence, and closes it at its end. For the instance's thread, during a run. */
    public void keep(Hold newState) {
        state = newState;
    }

    /** Has a new step wait behind the others. */
    void append(PendingRequest request) {
        SequenceStep step = request.step();
        step.join(this);
        if (startDue) {
            step.start();
            startDue = false;
        }
        waiting.add(request);
        closed = step.ends();
    }

    /** Notes that one of the steps that wait runs now. */
    void run(PendingRequest request) {
        waiting.remove(request);
        running = true;
    }

    /** Begins the sequence with {@code next}, or with the step that comes next: the first one did not run. */
    void passStartOn(@Nullable PendingRequest next) {
        if (next != null) {
            next.step().start();
        } else {
            startDue = true;
        }
    }

    /** Whether nothing of it waits or runs. */
    boolean isIdle() {
        return waiting.size() == 0 && !running;
    }

    /** Gives up the state that the model kept. Called when the sequence has ended. */
    void close() {
        Hold kept = state;
        state = null;
        if (kept != null) {
            kept.close();
        }
    }
}
