// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/** The rest of a run that goes on beside the instance which began it: see {@link Execution#detach}. */
public interface DetachedRun {
    /**
     * Does the rest of the run. Called once, by a thread of its own, which uses the execution as the instance's thread
     * did before; what it throws fails the run's requests, as with {@link BackendInstance#execute}.
     */
    void run(Execution execution);

    /**
     * Asks the run to end soon, by a failure: nobody wants its response any more. As {@link BackendInstance#stop}, by
     * any thread, and also before {@link #run} is called.
     */
    void stop();
}
