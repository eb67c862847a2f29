// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.RegionLease;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A window whose results are written to a buffer first and copied to the region when they are complete. The buffer
 * begins as a copy of the window, so that what the engine leaves alone stays as it was and never shows another
 * request's data.
 */
final class StagedLease implements RegionLease {
    private final SystemRegion region;
    private final MemorySegment window;
    private final Buffer staged;
    private final AtomicBoolean closed = new AtomicBoolean();

    StagedLease(SystemRegion region, MemorySegment window, Buffer staged) {
        this.region = region;
        this.window = window;
        this.staged = staged;
    }

    @Override
    public MemorySegment segment() {
        return staged.segment();
    }

    @Override
    public boolean isShared() {
        return false;
    }

    @Override
    public String region() {
        return region.status().name();
    }

    @Override
    public Object object() {
        return region.object();
    }

    @Override
    public long objectOffset() {
        return region.objectOffset(window);
    }

    @Override
    public void settle() {
        region.copyBack(staged, window);
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            staged.close();
            region.release();
        }
    }
}
