// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.RegionStatus;
import gatun.memory.regions.SystemRegionStatus;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import gatun.wire.v1.SharedMemoryRegion;
import java.util.List;

/** Registers shared memory that clients offer. Safe for any thread. */
public final class SharedMemoryControl {
    private final RegionRegistry registry;
    private final ClientRegions regions;

    SharedMemoryControl(RegionRegistry registry, boolean enabled) {
        this.registry = registry;
        this.regions = new ClientRegions(registry, enabled);
    }

    /**
     * Registers {@code byteSize} bytes at {@code offset} of a POSIX shared memory object, both unsigned.
     *
     * @throws GatunException UNSUPPORTED where the operator does not allow it, ALREADY_EXISTS when the name is taken,
     *     INVALID_ARGUMENT when the object cannot be used
     */
    public void registerSystem(String name, String key, long offset, long byteSize) {
        regions.open().register(name, key, offset, byteSize);
    }

    /**
     * Registers the first {@code byteSize} bytes, unsigned, of memory of a GPU.
     *
     * @param handle CUDA's handle for the client's allocation
     * @param device the number of the GPU
     * @throws GatunException UNSUPPORTED where the operator does not allow it, ALREADY_EXISTS when the name is taken,
     *     INVALID_ARGUMENT when the memory cannot be used or there is no GPU
     */
    public void registerCuda(String name, byte[] handle, long device, long byteSize) {
        regions.open().registerCuda(name, handle, device, byteSize);
    }

    /**
     * Forgets a region; does nothing when there is none of that name.
     *
     * @throws GatunException UNSUPPORTED where the operator does not allow shared memory
     */
    public void unregister(String name) {
        regions.open().unregister(name);
    }

    /**
     * Forgets all regions.
     *
     * @throws GatunException UNSUPPORTED where the operator does not allow shared memory
     */
    public void unregisterAll() {
        regions.open().unregisterAll();
    }

    /** All regions, by name. */
    public List<SharedMemoryRegion> regions() {
        return registry.statuses().stream().map(SharedMemoryControl::message).toList();
    }

    private static SharedMemoryRegion message(RegionStatus region) {
        SharedMemoryRegion.Builder message =
                SharedMemoryRegion.newBuilder().setName(region.name()).setByteSize(region.byteSize());
        switch (region) {
            case SystemRegionStatus system ->
                message.getSystemSharedMemoryBuilder()
                        .setSharedMemoryKey(system.key())
                        .setOffset(system.offset());
            case CudaRegionStatus cuda -> message.getCudaSharedMemoryBuilder().setDeviceId(cuda.device());
        }
        return message.build();
    }
}
