// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import org.jspecify.annotations.Nullable;

/**
 * A request's part in a sequence. Runs once, or as often as the model wants in an iterative sequence. Written under the
 * scheduler's lock before the request runs; read by the instance's thread while it runs.
 */
public final class SequenceStep {
    private final Object id;
    private boolean ends;
    private boolean starts;
    private boolean done;
    private boolean again;

    /** Guarded by the scheduler's lock until the request runs. */
    private @Nullable Sequence sequence;

    /** A step that no scheduler has seen; {@code id} is the same for all of its sequence, by {@code equals}. */
    public SequenceStep(Object id, boolean starts, boolean ends) {
        this.id = id;
        this.starts = starts;
        this.ends = ends;
    }

    /** The id of the sequence, the same for all its steps. */
    public Object id() {
        return id;
    }

    /** Whether the sequence begins (anew) with this step; also when the model did not take those before it. */
    public boolean starts() {
        return starts;
    }

    /** Whether the sequence ends with this step. */
    public boolean ends() {
        return ends;
    }

    /** The sequence that this is a step of. For a request that runs. */
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

    /** Notes that the model took this step and wants to run it again later. For the instance's thread. */
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
