// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.soak;

/**
 * The memory, threads and descriptors that a server process holds at a moment.
 *
 * @param heapMib the Java heap after a collection, in MiB
 * @param residentMib its memory as the system counts it, in MiB
 * @param descriptors open file descriptors
 * @param threads threads of the system
 */
record Vitals(double heapMib, double residentMib, int descriptors, int threads) {}
