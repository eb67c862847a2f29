// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

/**
 * A registered region of system shared memory.
 *
 * @param name the client's name for it
 * @param key the shared-memory object
 * @param offset where the region starts in the object, in bytes
 * @param byteSize its size in bytes
 */
public record SystemRegionStatus(String name, String key, long offset, long byteSize) implements RegionStatus {}
