// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.tensor.RegionLease;
import java.lang.foreign.MemorySegment;

/**
 * A window in a lane's own memory. The memory stays mapped while any request of the lane is under way, so this holds
 * nothing of its own and is valid again in each of them; closing it does nothing.
 */
final class LaneWindow implements RegionLease {
    private final RegionLease whole;
    private final long offset;
    private final MemorySegment segment;

    /**
     * A window of {@code whole}, which is all of the lane's memory.
     *
     * @param offset where it begins there, in bytes; inside, as its end is
     */
    LaneWindow(RegionLease whole, long offset, long byteSize) {
        this.whole = whole;
        this.offset = offset;
        this.segment = whole.segment().asSlice(offset, byteSize);
    }

    @Override
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public boolean isShared() {
        return whole.isShared();
    }

    @Override
    public String region() {
        return whole.region();
    }

    @Override
    public Object object() {
        return whole.object();
    }

    @Override
    public long objectOffset() {
        return whole.objectOffset() + offset;
    }

    @Override
    public void settle() {
        whole.settle();
    }

    @Override
    public boolean renew() {
        return true;
    }

    @Override
    public void close() {
        // The lane itself holds the memory.
    }
}
