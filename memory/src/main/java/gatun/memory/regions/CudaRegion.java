// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiConsumer;

/**
 * A registered region of a GPU's memory. Nothing that the owner does takes it away: the allocation stays as long as it
 * is open here. Whoever gives back the last lease of a retired one tells the releaser to close it. Safe for any thread.
 */
final class CudaRegion implements Region {
    private final CudaRegionStatus status;
    private final CudaDevice device;
    private final DeviceMemory memory;
    private final LeaseCount leases;

    /**
     * A region that owns {@code mapping}, which is large enough; {@code releaser} is told of its end and how to close it,
     * and must not wait for that, since requests call it.
     */
    CudaRegion(
            CudaRegionStatus status,
            CudaDevice device,
            CudaMappings.Mapping mapping,
            BiConsumer<Region, Runnable> releaser) {
        this.status = status;
        this.device = device;
        this.memory = mapping.memory().slice(0, status.byteSize());
        this.leases = new LeaseCount(() -> releaser.accept(this, mapping::close));
    }

    /**
     * Opens the allocation behind {@code handle} for a region.
     *
     * @throws GatunException INVALID_ARGUMENT when it cannot be opened or the allocation is smaller than the region,
     *     UNAVAILABLE when the device has failed; nothing stays open then
     */
    static CudaRegion open(
            CudaRegionStatus status,
            CudaDevice device,
            byte[] handle,
            CudaMappings mappings,
            BiConsumer<Region, Runnable> releaser) {
        CudaMappings.Mapping mapping = mappings.open(status.name(), device, handle);
        long allocated = mapping.memory().byteSize();
        if (Long.compareUnsigned(status.byteSize(), allocated) > 0) {
            mapping.close();
            throw RegionErrors.outsideAllocation(status.name(), status.byteSize(), allocated);
        }
        return new CudaRegion(status, device, mapping, releaser);
    }

    @Override
    public CudaRegionStatus status() {
        return status;
    }

    @Override
    public RegionUse use() {
        return new RegionUse(
                status, Optional.empty(), OptionalLong.empty(), OptionalLong.empty(), leases.users(), isLeaving());
    }

    /** The GPU that it is on. */
    CudaDevice device() {
        return device;
    }

    /** The GPU, in whose addresses windows of all its regions are comparable. */
    Object object() {
        return device;
    }

    @Override
    public boolean retire() {
        return leases.retire();
    }

    @Override
    public boolean retireWhenUnused() {
        return leases.retireWhenUnused();
    }

    @Override
    public boolean isLeaving() {
        return leases.isLeaving();
    }

    /** Gives one lease back. */
    void release() {
        leases.release();
    }

    @Override
    public RegionLease borrow(long offset, long byteSize, RegionRegistry.Access access, BufferPool pool) {
        checkWindow(offset, byteSize);
        if (!leases.tryAcquire()) {
            throw RegionErrors.unknown(status.name());
        }
        try {
            DeviceMemory window = memory.slice(offset, byteSize);
            return switch (access) {
                case READ -> new CudaInputLease(this, window, pool);
                case SNAPSHOT -> {
                    RegionLease lease = new SnapshotLease(copyOf(window, pool));
                    release();
                    yield lease;
                }
                case WRITE -> new CudaOutputLease(this, window, pool);
            };
        } catch (Throwable t) {
            release();
            throw t;
        }
    }

    /** A copy of what {@code window} holds now, in memory that the processor can read. */
    Buffer copyOf(DeviceMemory window, BufferPool pool) {
        Buffer copy = pool.take(window.byteSize());
        try {
            if (window.byteSize() > 0) {
                device.copyToHost(window, copy.segment());
            }
            return copy;
        } catch (Throwable t) {
            copy.close();
            throw t;
        }
    }
}
