// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

/**
 * The flag of a run's options that has the engine stop. The engine never clears it, so this knows whether it is set,
 * and clears it before the next run. {@link #raise} is for any thread, {@link #clear} for the run's.
 */
final class TerminateFlag {
    private final Runnable set;
    private final Runnable unset;

    /** True at the latest when the engine's flag has been set for good. */
    private volatile boolean raised;

    /** A flag that is not set. */
    TerminateFlag(Runnable set, Runnable unset) {
        this.set = set;
        this.unset = unset;
    }

    void raise() {
        set.run();
        // Only now: a run that begins meanwhile would note the flag as cleared, which then is set and stops every run.
        raised = true;
    }

    /** Lets the next run go on, whether or not one was stopped. */
    void clear() {
        if (raised) {
            raised = false;
            unset.run();
        }
    }
}
