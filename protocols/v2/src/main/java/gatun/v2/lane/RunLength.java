// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.runtime.placement.RunPlacement;
import gatun.runtime.placement.RunPlacement.RunTimeEstimator;
import org.jspecify.annotations.Nullable;

/**
 * How long requests of one kind take, to tell whether the next is one to do where it was found. On threads of their own
 * they would wait for the model's instance among their like, which says nothing: so the engine's time counts for all,
 * and the whole time only for those done where they were found while none was elsewhere. Safe for any thread.
 */
final class RunLength {
    /** An engine's time that is not known, since the request failed. */
    static final long UNKNOWN = -1;

    /** After so many requests that were done elsewhere, what took long where it was found is forgotten. */
    private static final int FORGET_AFTER = 64;

    // All guarded by this.
    /** Null before the first run. */
    private @Nullable RunTimeEstimator engine;

    private @Nullable RunTimeEstimator whole;
    private int elsewhere;
    /** How many were since the last was forgotten. */
    private int sentElsewhere;
    /** Whether the last one that was found short began while others were done elsewhere. */
    private boolean amongOthers;

    /** Whether the next is one to do where it was found. For one thread. */
    synchronized boolean isShort(RunPlacement placement, boolean alone) {
        amongOthers = elsewhere > 0;
        return engine != null && placement.runsWhereFound(engine, whole == null ? 0 : whole.typicalNanos(), alone);
    }

    /** Notes the end of one done where it was found; the engine took {@code engineNanos}, or {@link #UNKNOWN}. */
    synchronized void endWhereFound(long engineNanos, long wholeNanos) {
        noteEngine(engineNanos);
        if (!amongOthers) {
            whole = noted(whole, wholeNanos);
        }
    }

    synchronized void beginElsewhere() {
        elsewhere++;
        if (++sentElsewhere >= FORGET_AFTER) {
            sentElsewhere = 0;
            whole = null;
        }
    }

    /** A run elsewhere has ended, for which the engine took {@code engineNanos}, or {@link #UNKNOWN}. */
    synchronized void endElsewhere(long engineNanos) {
        noteEngine(engineNanos);
        elsewhere--;
    }

    private void noteEngine(long nanos) {
        if (nanos != UNKNOWN) {
            engine = noted(engine, nanos);
        }
    }

    private static RunTimeEstimator noted(@Nullable RunTimeEstimator past, long nanos) {
        RunTimeEstimator times = past == null ? new RunTimeEstimator(nanos) : past;
        times.record(nanos);
        return times;
    }
}
