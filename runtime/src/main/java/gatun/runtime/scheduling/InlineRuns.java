// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the runs that are on request threads at present, over all models. A virtual thread in native code holds its
 * carrier thread, and nothing takes it away: a run that was short a thousand times may take minutes for one input. So
 * they never hold the last carrier for long: where carriers can be added, {@link CarrierWatch} adds one as soon as runs
 * hold all others; elsewhere one is always left. Safe for any thread; never waits.
 */
final class InlineRuns {
    /** Those of this JVM, which has one set of carrier threads. */
    static final InlineRuns OF_THIS_JVM = ofThisJvm();

    /** How many runs there are now, in the lower half, and how many have ended, in the upper half. */
    private final AtomicLong state = new AtomicLong();

    private static final int ENDED_SHIFT = 32;
    private static final long ENDED = (1L << ENDED_SHIFT) - 1;

    /** The number of runs up to which a carrier thread is left to others. */
    private final int sparing;

    private volatile int limit;
    private volatile Runnable onFull = () -> {};

    /** @param limit how many runs may hold carrier threads at a time, so that one is left */
    InlineRuns(int limit) {
        this.sparing = limit;
        this.limit = limit;
    }

    private static InlineRuns ofThisJvm() {
        int carriers = Carriers.count();
        InlineRuns runs = new InlineRuns(carriers - 1);
        CarrierWatch watch = new CarrierWatch(runs, Carriers::ofThisJvm);
        runs.onFull(watch::wakeUp);
        return runs;
    }

    /** Has {@code action} run each time that as many runs hold carriers as may. It must not wait. */
    void onFull(Runnable action) {
        onFull = action;
    }

    /** Changes how many runs may hold carrier threads at a time. */
    void limit(int runs) {
        limit = runs;
    }

    /** A number that is the same while no run begins or ends. */
    long state() {
        return state.get();
    }

    /** Whether as many runs held carriers as may, when {@link #state} was that. */
    boolean isFull(long state) {
        return (int) state >= limit;
    }

    /**
     * How long a run may be, in nanoseconds, that the calling thread begins now; then it says {@link #end} afterwards.
     * 0 when it may not. On a platform thread nobody waits for a run, and while a carrier is left to others neither.
     * Only short ones take the last.
     */
    long tryBegin() {
        if (!Thread.currentThread().isVirtual()) {
            return RunTimes.LONG_NANOS;
        }
        int running = (int) state.incrementAndGet();
        if (running >= limit) {
            onFull.run();
        }
        if (running <= sparing) {
            return RunTimes.LONG_NANOS;
        }
        if (running <= limit) {
            return RunTimes.SHORT_NANOS;
        }
        state.decrementAndGet();
        return 0;
    }

    /** Ends the calling thread's run. */
    void end() {
        if (Thread.currentThread().isVirtual()) {
            state.addAndGet(ENDED);
        }
    }
}
