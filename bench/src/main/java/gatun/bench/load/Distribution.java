// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

/** The distribution of the gaps between requests of an open loop. */
public enum Distribution {
    /** Exponential gaps, as from independent callers. */
    POISSON,
    /** All gaps are equal. */
    CONSTANT
}
