package gatun.memory;

import java.lang.foreign.MemorySegment;

/** A lease on the region's own memory: nothing is copied. Used by one thread at a time. */
final class WindowLease implements RegionLease {
    private final SystemRegion region;
    private final MemorySegment window;
    private boolean closed;

    /** Owns one count of the region's leases. */
    WindowLease(SystemRegion region, MemorySegment window) {
        this.region = region;
        this.window = window;
    }

    @Override
    public MemorySegment segment() {
        return window;
    }

    @Override
    public void settle() {
        region.requireIntact();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            region.release();
        }
    }
}
