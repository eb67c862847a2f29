// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/** Where a model version is in its life. */
public enum ModelState {
    /** In the repository and never loaded. */
    UNKNOWN,
    /** Being loaded. */
    LOADING,
    /** Answers requests. */
    READY,
    /** Refuses new requests and waits for running ones. */
    UNLOADING,
    /** Cannot answer; the reason says why. */
    UNAVAILABLE
}
