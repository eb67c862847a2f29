// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

/** The {@linkplain RunPermit turns} of a model's instances, as a dispatcher sees them. Never blocks. */
interface RunPermits {
    RunPermits UNLIMITED = new RunPermits() {
        @Override
        public boolean ask(int instance) {
            return true;
        }

        @Override
        public void decline(int instance) {
            // Nothing was taken.
        }
    };

    /** Whether an instance may run now; otherwise it is woken when it may, and asks again. */
    boolean ask(int instance);

    /** Gives up the turn that an instance has or waits for; also says after a run that it does not want another. */
    void decline(int instance);
}
