package gatun.v1;

import gatun.memory.ErrorCode;
import gatun.memory.GatunException;
import gatun.memory.RegionRegistry;
import gatun.memory.RegionStatus;
import gatun.protocol.v1.SharedMemoryRegion;
import java.util.List;

/** Registers shared memory that clients offer. Safe for any thread. */
public final class SharedMemoryControl {
    private final RegionRegistry regions;
    private final boolean enabled;

    SharedMemoryControl(RegionRegistry regions, boolean enabled) {
        this.regions = regions;
        this.enabled = enabled;
    }

    /**
     * Registers {@code byteSize} bytes at {@code offset} of a POSIX shared memory object, both unsigned.
     *
     * @throws GatunException UNSUPPORTED where the operator does not allow it, ALREADY_EXISTS when the name is taken, INVALID_ARGUMENT when
     *     the object cannot be used
     */
    public void registerSystem(String name, String key, long offset, long byteSize) {
        requireEnabled();
        regions.register(name, key, offset, byteSize);
    }

    /**
     * Refuses to register memory of a GPU, of which this server uses none.
     *
     * @throws GatunException INVALID_ARGUMENT, or UNSUPPORTED where the operator does not allow any shared memory
     */
    public void registerCuda(String name) {
        requireEnabled();
        throw GatunException.invalidArgument(
                "failed to register CUDA shared memory region: '" + name + "', GPUs not supported");
    }

    /**
     * Forgets a region; does nothing when there is none of that name.
     *
     * @throws GatunException UNSUPPORTED where the operator does not allow shared memory
     */
    public void unregister(String name) {
        requireEnabled();
        regions.unregister(name);
    }

    /**
     * Forgets all regions.
     *
     * @throws GatunException UNSUPPORTED where the operator does not allow shared memory
     */
    public void unregisterAll() {
        requireEnabled();
        regions.unregisterAll();
    }

    /** All regions, by name. */
    public List<SharedMemoryRegion> regions() {
        return regions.statuses().stream().map(SharedMemoryControl::message).toList();
    }

    private static SharedMemoryRegion message(RegionStatus region) {
        SharedMemoryRegion.Builder message =
                SharedMemoryRegion.newBuilder().setName(region.name()).setByteSize(region.byteSize());
        message.getSystemSharedMemoryBuilder().setSharedMemoryKey(region.key()).setOffset(region.offset());
        return message.build();
    }

    private void requireEnabled() {
        if (!enabled) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to enable.");
        }
    }
}
