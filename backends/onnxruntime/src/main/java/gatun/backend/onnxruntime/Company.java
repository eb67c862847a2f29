// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.util.concurrent.atomic.LongAdder;

/**
 * Whether the runs of one model have had company of late. One that finds no other under way is not alone yet: where
 * callers wait for their responses and ask again, runs end together, and the first to begin anew is soon beside the
 * next. Thread-safe; a lost update makes one run wider or narrower than it might have been, and nothing else.
 */
final class Company {
    /** After so many runs without others a model's runs count as alone. */
    static final int MEMORY = 8;

    private final ActiveRuns runs;

    /** How many runs still count as beside others. */
    private volatile int left;

    /** @param runs counts those of all models */
    Company(ActiveRuns runs) {
        this.runs = runs;
    }

    /** A run begins; whether it has the machine to itself. */
    boolean beginAlone() {
        if (!runs.begin()) {
            meet();
            return false;
        }
        int before = left;
        if (before > 0) {
            left = before - 1;
        }
        return before == 0;
    }

    /** A run ends. */
    void end() {
        if (!runs.end()) {
            meet();
        }
    }

    private void meet() {
        if (left != MEMORY) {
            left = MEMORY;
        }
    }

    /** Present runs of all models, in words by core. Thread-safe: of two begins neither counts as alone. */
    static final class ActiveRuns {
        private final LongAdder count = new LongAdder();

        /** A run begins; whether it is the only one. */
        boolean begin() {
            count.increment();
            return count.sum() == 1;
        }

        /** A run ends; whether it is the last one. */
        boolean end() {
            count.decrement();
            return count.sum() == 0;
        }
    }
}
