// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

/**
 * Whether a thread of lanes looks for the next request for a while before it sleeps: where its last caller does so for
 * the answer, and requests come faster than that while. A caller that sleeps has to be woken anyway, sooner on the core
 * that the thread leaves to it. Used by one thread at a time.
 */
final class Spinning {
    /** Gaps between requests are averaged with this weight, as a power of two, and count no more than this. */
    private static final int GAP_SHIFT = 3;

    private static final long LONGEST_GAP_NANOS = 10_000_000;

    private final long limitNanos;
    private long gapNanos = LONGEST_GAP_NANOS;
    private long workEndedNanos;
    private boolean callerSpins;

    /** @param limitNanos how long to look at most; 0 for not at all */
    Spinning(long limitNanos) {
        this.limitNanos = limitNanos;
    }

    /** Notes that there is something to do after there was nothing. */
    void noteRequest() {
        if (callerSpins) {
            long gap = Math.min(System.nanoTime() - workEndedNanos, LONGEST_GAP_NANOS);
            gapNanos += (gap - gapNanos) >> GAP_SHIFT;
        }
    }

    /** Notes how the last caller waited. */
    void noteCaller(boolean spins) {
        callerSpins = spins && limitNanos > 0;
    }

    /** Notes that there is nothing more to do. */
    void noteIdle() {
        if (callerSpins) {
            workEndedNanos = System.nanoTime();
        }
    }

    /** How long to look for the next request now, in nanoseconds; 0 for not at all. */
    long nanos() {
        return callerSpins && gapNanos <= limitNanos ? limitNanos : 0;
    }
}
