// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.RegionStatus;
import gatun.memory.regions.SystemRegionStatus;
import gatun.protocol.ClientRegions;
import gatun.runtime.access.PeerLocation;
import gatun.wire.v1.SharedMemoryRegion;
import java.util.List;

/** Registers shared memory that clients offer. Safe for any thread. */
public final class SharedMemoryControl {
    private final ClientRegions regions;

    SharedMemoryControl(ClientRegions regions) {
        this.regions = regions;
    }

    /**
     * Registers {@code byteSize} bytes at {@code offset} of a POSIX shared memory object, both unsigned. Throws
     * PERMISSION_DENIED where the client may not, UNSUPPORTED where none may, ALREADY_EXISTS when the name is taken,
     * INVALID_ARGUMENT when the object cannot be used.
     */
    public void registerSystem(PeerLocation client, String name, String key, long offset, long byteSize) {
        regions.open(client).register(name, key, offset, byteSize);
    }

    /**
     * Registers the first {@code byteSize} bytes, unsigned, of memory of a GPU, by CUDA's {@code handle} for the
     * client's allocation and the number of the {@code device}. Throws as {@link #registerSystem}, and INVALID_ARGUMENT
     * without a GPU.
     */
    public void registerCuda(PeerLocation client, String name, byte[] handle, long device, long byteSize) {
        regions.open(client).registerCuda(name, handle, device, byteSize);
    }

    /** Forgets a region, if there is one of that name. Throws PERMISSION_DENIED, or UNSUPPORTED where no client may. */
    public void unregister(PeerLocation client, String name) {
        regions.open(client).unregister(name);
    }

    /** Forgets all regions. Throws PERMISSION_DENIED where the client may not, UNSUPPORTED where none may. */
    public void unregisterAll(PeerLocation client) {
        regions.open(client).unregisterAll();
    }

    /** All regions, by name. Throws PERMISSION_DENIED where the client may not know. */
    public List<SharedMemoryRegion> regions(PeerLocation client) {
        return regions.statuses(client).stream()
                .map(SharedMemoryControl::message)
                .toList();
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
