// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.RegionLease;

/** A client's object that is mapped for one owner and has no name for others. Closed by its owner. Safe for any thread. */
public final class PrivateRegion implements AutoCloseable {
    private final Region region;
    private final BufferPool pool;

    PrivateRegion(Region region, BufferPool pool) {
        this.region = region;
        this.pool = pool;
    }

    /** As {@link RegionRegistry#borrow}: offset and size are unsigned 64-bit numbers. */
    public RegionLease borrow(long offset, long byteSize, RegionRegistry.Access access) {
        return region.borrow(offset, byteSize, access, pool);
    }

    /** Who uses it now; its name is its owner's secret. */
    public RegionUse use() {
        return region.use();
    }

    /** Lets nobody borrow it any more; it is unmapped after its last lease. A second call does nothing. */
    @Override
    public void close() {
        region.retire();
    }
}
