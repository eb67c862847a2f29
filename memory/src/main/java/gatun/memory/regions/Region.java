// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.RegionLease;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.BiConsumer;

/** A registered region. The last lease of a retired one has the releaser close its memory. Thread-safe. */
abstract sealed class Region permits SystemRegion, CudaRegion {
    private final LeaseCount leases;

    /** @param releaser is told at the end to close the region's memory, and must not block */
    Region(BiConsumer<Region, Runnable> releaser, Runnable closeMemory) {
        this.leases = new LeaseCount(() -> releaser.accept(this, closeMemory));
    }

    abstract RegionStatus status();

    abstract RegionUse use();

    /** The object or allocation that this is a region of, the same for all regions of it. */
    abstract Object object();

    /** A lease on a window inside the region. The caller has acquired the region, and releases it on failure. */
    abstract RegionLease lease(long offset, long byteSize, RegionRegistry.Access access, BufferPool pool);

    /** As {@link RegionRegistry#borrow}; {@code pool} lends the memory for copies. */
    final RegionLease borrow(long offset, long byteSize, RegionRegistry.Access access, BufferPool pool) {
        checkWindow(offset, byteSize);
        if (!tryAcquire()) {
            throw RegionErrors.unknown(status().name());
        }
        try {
            return lease(offset, byteSize, access, pool);
        } catch (Throwable t) {
            release();
            throw t;
        }
    }

    /** Takes a lease; false where the region is retired. */
    final boolean tryAcquire() {
        return leases.tryAcquire();
    }

    final void release() {
        leases.release();
    }

    final int users() {
        return leases.users();
    }

    /** Lets nobody borrow it any more; false where it was {@linkplain #isLeaving leaving} before. */
    final boolean retire() {
        return leases.retire();
    }

    /** Retires it once no lease is out. False where it was {@linkplain #isLeaving leaving} before. */
    final boolean retireWhenUnused() {
        return leases.retireWhenUnused();
    }

    final boolean isLeaving() {
        return leases.isLeaving();
    }

    /** A lease on a private copy, for which the region is needed no longer. */
    final RegionLease snapshot(Buffer copy) {
        RegionLease lease = new SnapshotLease(copy);
        release();
        return lease;
    }

    /** Refuses a window outside the region. Offset and size are unsigned; their sum may overflow. */
    private void checkWindow(long offset, long byteSize) {
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

    /** A lease that holds its region until it is closed. */
    abstract static class WindowLease<R extends Region> implements RegionLease {
        private static final VarHandle CLOSED;

        static {
            try {
                CLOSED = MethodHandles.lookup().findVarHandle(WindowLease.class, "closed", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        final R region;
        private volatile boolean closed;

        WindowLease(R region) {
            this.region = region;
        }

        /** Gives back what the lease has besides its region. Called once. */
        void closeCopy() {}

        @Override
        public final String region() {
            return region.status().name();
        }

        @Override
        public final Object object() {
            return region.object();
        }

        /** Whether {@link #close} was called. */
        final boolean isClosed() {
            return closed;
        }

        /** Makes a closed lease, whose region was acquired anew, one that can be closed again. */
        final void reopen() {
            closed = false;
        }

        @Override
        public final void close() {
            // A second release would unmap the region under somebody else.
            if (CLOSED.compareAndSet(this, false, true)) {
                closeCopy();
                region.release();
            }
        }
    }

    /** A private copy of a window, complete since it was borrowed. Holds no region and overlaps no window. */
    static final class SnapshotLease implements RegionLease {
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
}
