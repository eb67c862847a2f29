// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import org.jspecify.annotations.Nullable;

/**
 * The part of a ticket that belongs to a sequence. A step runs once, or, where sequences are iterative, as often as the
 * model wants. The scheduler writes it under its lock before the ticket runs; the instance's thread reads it while the
 * ticket runs.
 */
public final class SequenceStep {
    private final Object id;
    private boolean ends;
    private boolean starts;
    private boolean done;
    private boolean again;

    /** Guarded by the scheduler's lock until the ticket runs. */
    private @Nullable Sequence sequence;

    /**
     * A step that no scheduler has seen.
     *
     * @param id the id of the sequence, the same for all its steps; compared by {@code equals}
     * @param starts whether it is the sequence's first
     * @param ends whether it is the sequence's last
     */
    public SequenceStep(Object id, boolean starts, boolean ends) {
        this.id = id;
        this.starts = starts;
        this.ends = ends;
    }

    /** The id of the sequence, the same for all its steps. */
    public Object id() {
        return id;
    }

    /** Whether the sequence begins, or begins anew, with this step; also when the model did not take those before it. */
    public boolean starts() {
        return starts;
    }

    /** Whether the sequence ends with this step. */
    public boolean ends() {
        return ends;
    }

    /** The sequence that this is a step of. For a ticket that runs. */
    public Sequence sequence() {
        Sequence known = sequence;
        if (known == null) {
            throw new IllegalStateException("a step of sequence " + id + " was asked for it before it was submitted");
        }
        return known;
    }

    /** Notes that the model has taken this step, though its response may still fail. For the instance's thread. */
    public void done() {
        done = true;
    }

    boolean isDone() {
        return done;
    }

    /**
     * Notes that the model has taken this step, and wants to run it again, in a later batch. For the instance's thread.
     */
    public void again() {
        done = true;
        again = true;
    }

    /** Whether it is to run again. */
    boolean isAgain() {
        return again;
    }

    /** Makes it the next step of its sequence, which goes on with it. */
    void goOn() {
        starts = false;
        ends = false;
        done = false;
        again = false;
    }

    void join(Sequence joined) {
        sequence = joined;
    }

    void start() {
        starts = true;
    }
}
