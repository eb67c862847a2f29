// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

/**
 * A permit that an idle instance needs to run where instances share resources. Its scheduler asks when there is
 * something to run, and takes the batch only then. Called under the scheduler's lock; never blocks.
 */
public interface RunPermit {
    /**
     * Whether the instance may run now, which ends the turn. Otherwise {@code wake} is called once, by any thread, when
     * its turn has come, and it asks again; it must not block nor lock. Asking while waiting changes nothing.
     */
    boolean ask(Runnable wake);

    /** Gives a turn up, since nothing is left to run. After each run an instance asks again or declines. */
    void decline();
}
