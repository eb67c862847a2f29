// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/**
 * A registered region of a GPU's memory.
 *
 * @param name what requests call it
 * @param device the number of the GPU
 * @param byteSize its size
 */
public record CudaRegion(String name, long device, long byteSize) {}
