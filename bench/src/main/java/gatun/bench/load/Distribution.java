// SPDX-License-Identifier: Apache-2.0
package gatun.bench.load;

/** How the gaps between requests of an open loop are spread. */
public enum Distribution {
    /** As independent callers come: exponential gaps. */
    POISSON,
    /** All gaps are equal. */
    CONSTANT
}
