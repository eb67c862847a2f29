// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.RegionLease;
import java.lang.foreign.MemorySegment;

/** A private copy of a window, complete since it was borrowed. Holds no region and overlaps no window. */
final class SnapshotLease implements RegionLease {
    private final Buffer copy;

    SnapshotLease(Buffer copy) {
        this.copy = copy;
    }

    @Override
    public MemorySegment segment() {
        return copy.segment();
    }

    @Override
    public boolean isShared() {
        return false;
    }

    @Override
    public void settle() {
        // The copy was checked when it was made; what becomes of the region now does not matter.
    }

    @Override
    public void close() {
        copy.close();
    }
}
