// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/**
 * A registered region of the system's shared memory.
 *
 * @param name what requests call it
 * @param key the shared-memory object
 * @param offset where it begins there, in bytes
 * @param byteSize its size
 */
public record SystemRegion(String name, String key, long offset, long byteSize) {}
