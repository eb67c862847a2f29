// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

/**
 * A registered region of a GPU's memory.
 *
 * @param name the client's name for it
 * @param device the GPU, as the server numbers them
 * @param byteSize its size in bytes
 */
public record CudaRegionStatus(String name, int device, long byteSize) implements RegionStatus {}
