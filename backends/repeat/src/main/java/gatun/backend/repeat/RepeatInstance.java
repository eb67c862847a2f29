// SPDX-License-Identifier: Apache-2.0
package gatun.backend.repeat;

import gatun.spi.BackendInstance;
import gatun.spi.Execution;
import java.time.Duration;

/** Begins runs, which go on beside it where they can; it is free for the next after {@code WAIT} milliseconds. */
final class RepeatInstance implements BackendInstance {
    private final boolean iterative;

    /** The run that this instance does itself, or did last. */
    private volatile RepeatRun present;

    /** @param iterative whether a run answers with one element, and asks for another run while there are more */
    RepeatInstance(boolean iterative) {
        this.iterative = iterative;
        present = new RepeatRun(iterative);
    }

    @Override
    public void execute(Execution execution) {
        RepeatRun run = new RepeatRun(iterative);
        Duration wait = RepeatRun.leastDuration(execution);
        if (execution.detach(run)) {
            run.hold(wait);
            return;
        }
        present = run;
        run.run(execution);
    }

    @Override
    public void stop() {
        present.stop();
    }
}
