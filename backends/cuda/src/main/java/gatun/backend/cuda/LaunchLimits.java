// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.bindings.cuda.cuda_h;
import gatun.memory.cuda.CudaDevice;

/**
 * The limits of a GPU for launches. Immutable.
 *
 * @param gridX most blocks in x
 * @param gridY most blocks in y
 * @param gridZ most blocks in z
 * @param blockX most threads of a block in x
 * @param blockY most threads of a block in y
 * @param blockZ most threads of a block in z
 * @param sharedBytes most shared memory of a block
 * @param usualSharedBytes most of it that a kernel gets without having asked for more
 */
record LaunchLimits(
        int gridX, int gridY, int gridZ, int blockX, int blockY, int blockZ, int sharedBytes, int usualSharedBytes) {
    /** Those of {@code device}. */
    static LaunchLimits of(CudaDevice device) {
        return new LaunchLimits(
                device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X()),
                device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y()),
                device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z()),
                device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X()),
                device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y()),
                device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z()),
                Math.max(
                        device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK()),
                        device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN())),
                device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK()));
    }
}
