// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

/**
 * How long requests of one kind take, to tell whether the next is one to do where it was found. A thread of its own for
 * each would wait for the model's instance among its like, which says nothing; so the engine's time counts for all of
 * them, and the whole time only for those that were done where they were found. Safe for any thread: numbers get lost
 * when two are noted at a time, and no more.
 */
final class RunLength {
    /** A request that takes less is done where it was found, even if others wait. */
    private static final long SHORT_NANOS = 20_000;
    /** A request that takes less is done where it was found unless others wait. */
    private static final long ALONE_NANOS = 1_000_000;

    /** The weight of one request in the averages, as a power of two: 1/8. */
    private static final int WEIGHT_SHIFT = 3;
    /** Of so many requests one is tried where it was found, though the last such one took long; a power of two. */
    private static final int TRY_EACH = 256;

    private static final long UNKNOWN = -1;

    private volatile long engineNanos = UNKNOWN;
    private volatile long wholeNanos = UNKNOWN;
    /** For the thread that asks. */
    private int asked;

    /** No request yet: the first is not known to be short. */
    RunLength() {}

    /** Notes what the engine took for a request. */
    void notedEngine(long nanos) {
        engineNanos = average(engineNanos, nanos);
    }

    /** Notes how long a request took that was done where it was found, waiting included. */
    void notedWhole(long nanos) {
        wholeNanos = average(wholeNanos, nanos);
    }

    /**
     * Whether the next is one to do where it was found. For one thread.
     *
     * @param alone whether no other request waits in the lane
     */
    boolean isShort(boolean alone) {
        long limit = alone ? ALONE_NANOS : SHORT_NANOS;
        long engine = engineNanos;
        if (engine == UNKNOWN || engine >= limit) {
            return false;
        }
        return wholeNanos < limit || (++asked & TRY_EACH - 1) == 0;
    }

    private static long average(long present, long nanos) {
        return present == UNKNOWN ? nanos : present + ((nanos - present) >> WEIGHT_SHIFT);
    }
}
