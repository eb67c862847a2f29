// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.runtime.ensemble.EnsemblePlan.EnsembleStep;
import java.util.List;

/** A step of {@code steps} that can run now, and is counted among the threads of its request already. */
record ReadyStep(EnsembleStepExecutor steps, EnsembleStep step) {
    /** Starts virtual threads for all of {@code ready} from the one at {@code from}. */
    static void start(List<ReadyStep> ready, int from) {
        for (int i = from; i < ready.size(); i++) {
            ReadyStep next = ready.get(i);
            try {
                Thread.ofVirtual().name("ensemble-step-" + next.step.model()).start(next::follow);
            } catch (RuntimeException | Error e) {
                next.steps.failUnexpectedly(next.step, e);
                next.steps.leave();
            }
        }
    }

    /** Runs the step on the calling thread, then one of those that it makes possible; new threads run others. */
    void follow() {
        try {
            List<ReadyStep> ready = List.of(this);
            while (!ready.isEmpty()) {
                ReadyStep next = ready.getFirst();
                ready = next.steps.run(next.step);
                start(ready, 1);
            }
        } finally {
            steps.leave();
        }
    }
}
