// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.bindings.cuda.cuda_h;
import gatun.memory.cuda.CudaDevice;

/**
 * The limits of a GPU for launches. Immutable.
 *
 * @param grid most blocks
 * @param block most threads of a block
 * @param sharedBytes most shared memory of a block
 * @param usualSharedBytes most of it that a kernel gets without having asked for more
 */
record LaunchLimits(Extent grid, Extent block, int sharedBytes, int usualSharedBytes) {
    /** How many there may be in each direction. */
    record Extent(int x, int y, int z) {}

    /** Those of {@code device}. */
    static LaunchLimits of(CudaDevice device) {
        return new LaunchLimits(
                new Extent(
                        device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X()),
                        device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y()),
                        device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z())),
                new Extent(
                        device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X()),
                        device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y()),
                        device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z())),
                Math.max(
                        device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK()),
                        device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN())),
                device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK()));
    }
}
