package gatun.memory;

import java.lang.foreign.MemorySegment;

/**
 * A lease on a private copy of a window, for memory that is parsed, or that nothing protects from being truncated. All copying is done by
 * Java's own access, where a fault is an {@link InternalError} that becomes an answer. Used by one thread at a time.
 */
final class CopiedLease implements RegionLease {
    private final SystemRegion region;
    private final MemorySegment window;
    private final Buffer copy;
    private final boolean isOutput;
    private boolean closed;

    private CopiedLease(SystemRegion region, MemorySegment window, Buffer copy, boolean isOutput) {
        this.region = region;
        this.window = window;
        this.copy = copy;
        this.isOutput = isOutput;
    }

    /** A copy of what the window holds now. Owns one count of the region's leases when it returns. */
    static CopiedLease snapshot(SystemRegion region, MemorySegment window, BufferPool pool) {
        return open(region, window, pool, false);
    }

    /** A copy that goes back into the window on {@link #settle}, so that what the engine leaves alone stays as it is. */
    static CopiedLease staged(SystemRegion region, MemorySegment window, BufferPool pool) {
        return open(region, window, pool, true);
    }

    private static CopiedLease open(SystemRegion region, MemorySegment window, BufferPool pool, boolean isOutput) {
        Buffer copy = pool.take(window.byteSize());
        try {
            move(region, window, copy.segment());
            return new CopiedLease(region, window, copy, isOutput);
        } catch (RuntimeException | Error e) {
            copy.close();
            throw e;
        }
    }

    private static void move(SystemRegion region, MemorySegment from, MemorySegment to) {
        try {
            to.copyFrom(from);
        } catch (InternalError e) {
            throw region.markTruncated();
        }
        // The error may come late, and behind a guard none comes: the object's size tells in any case.
        region.requireIntact();
    }

    @Override
    public MemorySegment segment() {
        return copy.segment();
    }

    @Override
    public void settle() {
        if (isOutput) {
            move(region, copy.segment(), window);
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            copy.close();
            region.release();
        }
    }
}
