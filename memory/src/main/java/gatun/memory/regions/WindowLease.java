// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.tensor.RegionLease;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A window of a region that is used in place. */
final class WindowLease implements RegionLease {
    private static final VarHandle CLOSED;

    static {
        try {
            CLOSED = MethodHandles.lookup().findVarHandle(WindowLease.class, "closed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final SystemRegion region;
    private final MemorySegment window;

    private volatile boolean closed;

    WindowLease(SystemRegion region, MemorySegment window) {
        this.region = region;
        this.window = window;
    }

    @Override
    public MemorySegment segment() {
        return window;
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
        region.checkUnbroken();
    }

    @Override
    public boolean renew() {
        if (!closed || !region.acquireAgain()) {
            return false;
        }
        closed = false;
        return true;
    }

    @Override
    public void close() {
        // A second release would unmap the region under somebody else.
        if (CLOSED.compareAndSet(this, false, true)) {
            region.release();
        }
    }
}
