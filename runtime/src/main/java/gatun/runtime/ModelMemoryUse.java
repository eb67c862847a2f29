// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * How much of the memory for models is taken, where they are loaded by the requests that need them.
 *
 * @param byteSize the most that all may take together
 * @param usedByteSize what those in memory take, counted by their files
 * @param modelCount how many are in memory
 * @param loadCount how often one was loaded
 * @param evictionCount how often one was closed to make room for another
 */
public record ModelMemoryUse(long byteSize, long usedByteSize, int modelCount, long loadCount, long evictionCount) {}
