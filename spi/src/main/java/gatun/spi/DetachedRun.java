// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

/** The rest of a run that goes on beside the instance which began it: see {@link Execution#detach}. */
public interface DetachedRun {
    /** Does the rest of the run, once, on its own thread; failures as in {@link BackendInstance#execute}. */
    void run(Execution execution);

    /** Asks the run to fail soon, as {@link BackendInstance#stop}; by any thread, also before {@link #run}. */
    void stop();
}
