// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.RegionLease;

/** A registered region. It stays open until it is retired and its last lease is given back. Safe for any thread. */
sealed interface Region permits SystemRegion, CudaRegion {
    /** The description of the region that status calls return. */
    RegionStatus status();

    /** The region and who uses it now. */
    RegionUse use();

    /** As {@link RegionRegistry#borrow}; {@code pool} lends the memory for copies. */
    RegionLease borrow(long offset, long byteSize, RegionRegistry.Access access, BufferPool pool);

    /** Lets nobody borrow it any more; false where it was {@linkplain #isLeaving leaving} before. */
    boolean retire();

    /** Retires it once no lease is out. False where it was {@linkplain #isLeaving leaving} before. */
    boolean retireWhenUnused();

    /** Whether it is retired, or will be when no lease is out. */
    boolean isLeaving();

    /** Refuses a window outside the region. Offset and size are unsigned; their sum may overflow. */
    default void checkWindow(long offset, long byteSize) {
        String name = status().name();
        long regionBytes = status().byteSize();
        if (Long.compareUnsigned(offset, regionBytes) >= 0) {
            throw RegionErrors.offsetOutside(name);
        }
        if (Long.compareUnsigned(offset + byteSize, byteSize) < 0) {
            throw RegionErrors.overflow(name, offset, byteSize);
        }
        if (Long.compareUnsigned(offset + byteSize, regionBytes) > 0) {
            throw RegionErrors.endOutside(name);
        }
    }
}
