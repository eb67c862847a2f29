// SPDX-License-Identifier: Apache-2.0
package gatun.memory.threads;

import gatun.bindings.CoreBinding;
import gatun.bindings.ThreadCore;
import gatun.memory.tuning.Tuner;
import gatun.memory.tuning.Tuner.TrialTurn;
import gatun.memory.tuning.Tuner.Trials;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntPredicate;

/**
 * Waits for answers by handing the core over to who gives them, before a sleep: where both are on one core, the answer
 * is there when the core comes back, and nobody had to be woken. Where others want the core too, a sleep is shorter; so
 * both are tried, and what took less time is done. Safe for any thread: threads that use one at a time only learn less.
 */
public final class YieldBeforeBlock {
    /** What {@link #core} says where the core is not handed over. */
    public static final int NO_CORE = CoreBinding.NO_CORE;

    /** What the ways are called. */
    public static final List<String> WAYS = List.of("waits asleep", "hands its core over");

    private static final int HANDS_OVER = 1;

    /** How they are tried. The first requests that name a core show it to the other side, and are not measured. */
    public static final Trials TRIALS = new Trials(WAYS.size(), 0, 4, 8);

    /** More are of no use: who answers has had the core, or is on another. */
    private static final int TIMES = 3;

    private final Tuner tuner;
    private final AtomicBoolean noting = new AtomicBoolean();

    /** @param tuner takes one of {@link #WAYS} */
    public YieldBeforeBlock(Tuner tuner) {
        this.tuner = tuner;
    }

    /** One that learns by itself. */
    public static YieldBeforeBlock alone() {
        return new YieldBeforeBlock(new Tuner(TRIALS, new TrialTurn(), (way, gain) -> {}));
    }

    /** The core to name in the next request, from 0; {@link #NO_CORE} where it is not to be handed over. */
    public int core() {
        return tuner.way() == HANDS_OVER ? ThreadCore.current() : NO_CORE;
    }

    /** Hands the core over while {@code waiting} for {@code number}, and it is of use; for requests with a core. */
    public static void await(IntPredicate waiting, int number) {
        for (int i = 0; i < TIMES && waiting.test(number); i++) {
            ThreadCore.handOver();
        }
    }

    /** Notes how long an answer took, in whichever way it was waited for. */
    public void noteWait(long nanos) {
        if (noting.compareAndSet(false, true)) {
            tuner.recordRun((double) nanos, 1);
            noting.set(false);
        }
    }
}
