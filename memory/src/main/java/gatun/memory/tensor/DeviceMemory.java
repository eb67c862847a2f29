// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import java.util.Objects;

/**
 * A run of bytes in the memory of a GPU. Only an address on purpose, and never a segment: the processor cannot read it,
 * and an attempt ends the process. Borrows the memory: valid while the {@link Hold} that came with it is held.
 *
 * @param device the GPU's number, as CUDA counts them
 * @param address where it begins, in the address space that all GPUs of a process share
 * @param byteSize how long it is, in bytes
 */
public record DeviceMemory(int device, long address, long byteSize) {
    /** Bytes from {@code offset} on. Throws IndexOutOfBoundsException when they do not lie inside. */
    public DeviceMemory slice(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, byteSize);
        return new DeviceMemory(device, address + offset, length);
    }

    /** Whether {@code next} begins on the same GPU where this ends. */
    public boolean isFollowedBy(DeviceMemory next) {
        return device == next.device && address + byteSize == next.address;
    }
}
