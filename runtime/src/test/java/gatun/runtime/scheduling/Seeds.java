// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

/** Plays a simulation with many seeds, or again with the one that {@code -Dgatun.simulation.seed=N} names. */
final class Seeds {
    private static final long COUNT = 10_000;

    /** So many seeds that failed say enough. */
    private static final int ENOUGH = 5;

    private Seeds() {}

    /**
     * Plays {@code simulation}, which fails where something does not hold; reports some of the failures, each with its
     * seed.
     */
    static List<AssertionError> play(LongConsumer simulation) {
        Long only = Long.getLong("gatun.simulation.seed");
        long first = only == null ? 0 : only;
        long last = only == null ? COUNT - 1 : only;
        List<AssertionError> broken = new ArrayList<>();
        for (long seed = first; seed <= last && broken.size() < ENOUGH; seed++) {
            try {
                simulation.accept(seed);
            } catch (AssertionError | RuntimeException e) {
                broken.add(new AssertionError(
                        "seed " + seed + " (replay it with -Dgatun.simulation.seed=" + seed + "): " + e.getMessage(),
                        e));
            }
        }
        return broken;
    }
}
