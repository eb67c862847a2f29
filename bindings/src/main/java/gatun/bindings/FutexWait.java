// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

/** How a {@link Posix#futexWait} ended. */
public enum FutexWait {
    /** Another thread or process woke this one, or it woke for no reason: look at the word again. */
    WOKEN,
    /** The word did not hold the expected value, so nothing was waited for. */
    CHANGED,
    /** The time went by. */
    TIMED_OUT
}
