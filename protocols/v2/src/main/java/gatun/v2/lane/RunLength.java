// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.runtime.placement.RunPlacement;
import gatun.runtime.placement.RunTimeEstimator;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long requests of one kind take, to tell whether the next is one to do where it was found. A thread of its own for
 * each would wait for the model's instance among its like, which says nothing; so the engine's time counts for all of
 * them, and the whole time only for those that were done where they were found while none was done elsewhere. Safe for
 * any thread: numbers get lost when two are noted at a time, and no more.
 */
final class RunLength {
    /** A request that takes less is done where it was found, even if others wait. */
    private static final long SHORT_NANOS = RunPlacement.WAKING_NANOS;
    /** A request that takes less is done where it was found unless others wait. */
    private static final long ALONE_NANOS = RunTimeEstimator.SHORT_NANOS;

    /** The weight of one request in the averages, as a power of two: 1/8. */
    private static final int WEIGHT_SHIFT = 3;
    /** After so many requests that were done elsewhere, what took long where it was found is forgotten. */
    private static final int FORGET_AFTER = 64;

    private static final long UNKNOWN = -1;

    private volatile long engineNanos = UNKNOWN;
    private volatile long wholeNanos = UNKNOWN;
    /** How many are done elsewhere now. */
    private final AtomicInteger elsewhere = new AtomicInteger();
    /** How many were since the last was forgotten; for the thread that asks. */
    private int sentElsewhere;
    /** Whether the last one that was found short began while others were done elsewhere; for that thread. */
    private boolean amongOthers;

    /** No request yet: the first is not known to be short. */
    RunLength() {}

    /** Notes what the engine took for a request. */
    void notedEngine(long nanos) {
        engineNanos = average(engineNanos, nanos);
    }

    /** Notes how long a request took that was done where it was found, waiting included. */
    void notedWhole(long nanos) {
        if (!amongOthers) {
            wholeNanos = average(wholeNanos, nanos);
        }
    }

    /** One is done elsewhere from now on. For the thread that asks. */
    void beginElsewhere() {
        elsewhere.incrementAndGet();
        if (++sentElsewhere >= FORGET_AFTER) {
            sentElsewhere = 0;
            wholeNanos = UNKNOWN;
        }
    }

    /** One that was done elsewhere has ended. */
    void endElsewhere() {
        elsewhere.decrementAndGet();
    }

    /**
     * Whether the next is one to do where it was found. For one thread.
     *
     * @param alone whether no other request waits in the lane
     */
    boolean isShort(boolean alone) {
        long limit = alone ? ALONE_NANOS : SHORT_NANOS;
        long engine = engineNanos;
        amongOthers = elsewhere.get() > 0;
        return engine != UNKNOWN && engine < limit && wholeNanos < limit;
    }

    private static long average(long present, long nanos) {
        return present == UNKNOWN ? nanos : present + ((nanos - present) >> WEIGHT_SHIFT);
    }
}
