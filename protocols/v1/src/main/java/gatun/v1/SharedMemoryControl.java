// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.RegionStatus;
import gatun.memory.regions.SystemRegionStatus;
import gatun.memory.tensor.GatunException;
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
     * Registers {@code byteSize} bytes at {@code offset} of a POSIX shared memory object, both unsigned.
     *
     * @throws GatunException PERMISSION_DENIED where the client may not, UNSUPPORTED where none may, ALREADY_EXISTS when the name is taken,
     *     INVALID_ARGUMENT when the object cannot be used
     */
    public void registerSystem(PeerLocation client, String name, String key, long offset, long byteSize) {
        regions.open(client).register(name, key, offset, byteSize);
    }

    /**
     * Registers the first {@code byteSize} bytes, unsigned, of memory of a GPU.
     *
     * @param handle CUDA's handle for the client's allocation
     * @param device the number of the GPU
     * @throws GatunException PERMISSION_DENIED where the client may not, UNSUPPORTED where none may, ALREADY_EXISTS when the name is taken,
     *     INVALID_ARGUMENT when the memory cannot be used or there is no GPU
     */
    public void registerCuda(PeerLocation client, String name, byte[] handle, long device, long byteSize) {
        regions.open(client).registerCuda(name, handle, device, byteSize);
    }

    /**
     * Forgets a region; does nothing when there is none of that name.
     *
     * @throws GatunException PERMISSION_DENIED where the client may not, UNSUPPORTED where none may
     */
    public void unregister(PeerLocation client, String name) {
        regions.open(client).unregister(name);
    }

    /**
     * Forgets all regions.
     *
     * @throws GatunException PERMISSION_DENIED where the client may not, UNSUPPORTED where none may
     */
    public void unregisterAll(PeerLocation client) {
        regions.open(client).unregisterAll();
    }

    /**
     * All regions, by name.
     *
     * @throws GatunException PERMISSION_DENIED where the client may not know
     */
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
