// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/** The limits of the steps of one ensemble, which all its requests have in common. Safe for any thread. */
final class StepLimits {
    /** One for each step; empty where there is no limit. */
    private final List<StepLimit> limits;

    /**
     * @param stepCount how many steps there are
     * @param limit how many runs of each may be under way; 0 for any number
     */
    StepLimits(int stepCount, int limit) {
        limits = IntStream.range(0, limit == 0 ? 0 : stepCount)
                .mapToObj(step -> new StepLimit(limit))
                .toList();
    }

    /** As {@link StepLimit#enter}. */
    boolean enter(EnsembleStep step, BooleanSupplier unwanted) {
        return limits.isEmpty() || limits.get(step.index()).enter(unwanted);
    }

    /** As {@link StepLimit#leave}. */
    void leave(EnsembleStep step) {
        if (!limits.isEmpty()) {
            limits.get(step.index()).leave();
        }
    }

    /** Has all runs that wait look whether they are still wanted. */
    void lookAgain() {
        for (StepLimit limit : limits) {
            limit.lookAgain();
        }
    }
}
