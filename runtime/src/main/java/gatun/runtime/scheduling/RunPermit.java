// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

/**
 * A permit that an instance needs to run beyond being idle, where instances share resources. Its scheduler asks for it
 * when there is something to run, and only then takes the batch: what waits for a turn stays in the queue. Called under
 * the scheduler's lock; never blocks.
 */
public interface RunPermit {
    /**
     * Whether the instance may run now; its next run then ends the turn. Otherwise it has asked, and {@code wake} is
     * called once when its turn has come, by any thread; it asks again then. Asking again while it waits changes
     * nothing.
     *
     * @param wake must not block, nor take a lock
     */
    boolean ask(Runnable wake);

    /** Gives a turn up, since nothing is left to run. After each run an instance asks again or declines. */
    void decline();
}
