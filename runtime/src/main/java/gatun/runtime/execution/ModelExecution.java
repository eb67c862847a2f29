// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.GatunException;
import gatun.spi.Execution;

/** A run as a backend sees it, and as the instance ends it; reused for all runs of an instance. */
interface ModelExecution extends Execution {
    /** The present run, or the last one. */
    Run run();

    /**
     * Ends a run that the backend says it finished: the requests have their outputs, and clients their regions.
     *
     * @throws GatunException when the backend did not give an output
     */
    void finish();

    /** Notes that the run failed, or was told to stop. */
    void breakOff();

    /** Forgets the run, so that nothing of its requests is kept alive, but for its times. */
    void clear();

    @Override
    default void inferStarted() {
        run().markInferStarted();
    }

    @Override
    default void inferEnded() {
        run().markInferEnded();
    }
}
