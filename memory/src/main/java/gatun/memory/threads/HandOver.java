// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import gatun.bindings.CoreBinding;
import gatun.bindings.ThreadCore;
import java.util.function.IntPredicate;

/**
 * Waits for answers by handing the core over to who gives them, before a sleep: where both are on one core, the answer is
 * there when the core comes back, and nobody had to be woken. Where others want the core too, a sleep is shorter; so both
 * are tried, and what took less time is done. Safe for any thread: threads that use one at a time only learn less.
 */
public final class HandOver {
    /** What {@link #core} says where the core is not handed over. */
    public static final int NO_CORE = CoreBinding.NO_CORE;

    /** More are of no use: who answers has had the core, or is on another. */
    private static final int TIMES = 3;

    /** The first requests that name a core show it to the other side, and are not measured. */
    private static final int SHOWN = 4;
    /** A trial's length. */
    private static final int TRIED = 12;
    /** After so many in the better way the other is tried again. */
    private static final int LONGEST = 4096;

    private static final int SHORTEST_REST = 16;

    /** The weight of one wait in a mean, as a power of two: 1/16. */
    private static final int WEIGHT_SHIFT = 4;
    /** A wait counts for no more than so many times the mean. */
    private static final int MOST_OF_MEAN = 8;

    private boolean handsOver;
    private int waits;
    private int rest = SHORTEST_REST;
    private long meanNanos;
    private long meanOfSleeps;

    /** Begins with sleeps, and tries it then. */
    public HandOver() {}

    /** The core to name in the next request, from 0; {@link #NO_CORE} where it is not to be handed over. */
    public int core() {
        return handsOver ? ThreadCore.current() : NO_CORE;
    }

    /**
     * Hands the core over until there is an answer, or that is of no use. For a request that has named its core.
     *
     * @param waiting whether there is no answer yet for {@code number}
     */
    public static void await(IntPredicate waiting, int number) {
        for (int i = 0; i < TIMES && waiting.test(number); i++) {
            ThreadCore.handOver();
        }
    }

    /** Notes how long an answer took, in whichever way it was waited for. */
    public void noteWait(long nanos) {
        waits++;
        if (!handsOver) {
            meanNanos = average(nanos);
            if (waits >= rest) {
                meanOfSleeps = meanNanos;
                rest = Math.min(2 * rest, LONGEST);
                change(true);
            }
            return;
        }
        if (waits <= SHOWN) {
            return;
        }
        meanNanos = average(nanos);
        if (waits >= LONGEST) {
            rest = SHORTEST_REST;
            change(false);
        } else if (waits >= TRIED && meanNanos > meanOfSleeps) {
            change(false);
        }
    }

    private void change(boolean toHandOver) {
        handsOver = toHandOver;
        waits = 0;
        meanNanos = 0;
    }

    private long average(long nanos) {
        long mean = meanNanos;
        return mean == 0 ? nanos : mean + ((Math.min(nanos, MOST_OF_MEAN * mean) - mean) >> WEIGHT_SHIFT);
    }
}
