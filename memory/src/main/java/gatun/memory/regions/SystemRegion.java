// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionUse.RegionKind;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

/** A registered region of system memory. The last lease of a retired one has the releaser unmap it. Thread-safe. */
final class SystemRegion implements Region {
    private final SystemRegionStatus status;
    private final RegionMapping mapping;
    private final LeaseCount leases;

    /** A region that owns {@code mapping}; {@code releaser} unmaps it at the end, and must not block. */
    SystemRegion(SystemRegionStatus status, RegionMapping mapping, BiConsumer<Region, Runnable> releaser) {
        this.status = status;
        this.mapping = mapping;
        this.leases = new LeaseCount(() -> releaser.accept(this, mapping::close));
    }

    @Override
    public SystemRegionStatus status() {
        return status;
    }

    @Override
    public RegionUse use() {
        OptionalLong owner =
                owner().map(process -> OptionalLong.of(process.pid())).orElseGet(OptionalLong::empty);
        OptionalLong user = OptionalLong.of(mapping.user());
        return new RegionUse(status, Optional.of(kind()), owner, user, leases.users(), isLeaving());
    }

    /** How the server is protected from the region's owner. */
    RegionKind kind() {
        return mapping.kind();
    }

    /** The object that this is a region of, the same for all regions of it. */
    Object object() {
        return mapping.object();
    }

    /** Where a window of this region begins in the object. */
    long objectOffset(MemorySegment window) {
        return status.offset() + window.address() - mapping.bytes().address();
    }

    /** The process whose object it is, where that is known for certain. */
    Optional<ProcessIdentity> owner() {
        return mapping.owner();
    }

    /** Whether no process but this one can reach the object any more. Looks through all processes. */
    boolean isAbandoned() {
        return mapping.isAbandoned();
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
            mapping.checkUsable();
            MemorySegment window = mapping.bytes().asSlice(offset, byteSize);
            boolean inPlace = mapping.kind() != RegionKind.COPIED;
            return switch (access) {
                case READ -> inPlace ? new WindowLease(this, window) : snapshot(window, pool);
                case SNAPSHOT -> snapshot(window, pool);
                case WRITE -> {
                    mapping.makeWritable();
                    yield inPlace ? new WindowLease(this, window) : new StagedLease(this, window, copyOf(window, pool));
                }
            };
        } catch (Throwable t) {
            release();
            throw t;
        }
    }

    /** Takes another lease on what was borrowed before; false where it cannot be used now. */
    boolean acquireAgain() {
        if (!leases.tryAcquire()) {
            return false;
        }
        try {
            mapping.checkUsable();
            return true;
        } catch (GatunException e) {
            release(); // who borrows it in the usual way learns why
            return false;
        }
    }

    /** Fails when the region broke. */
    void checkUnbroken() {
        mapping.checkUnbroken();
    }

    /** Writes the staged bytes to {@code window}. */
    void copyBack(Buffer staged, MemorySegment window) {
        UnguardedCopy.copy(staged.segment(), window, status.name(), mapping);
    }

    /** A private copy, for which the region is needed no longer. */
    private RegionLease snapshot(MemorySegment window, BufferPool pool) {
        RegionLease lease = new SnapshotLease(copyOf(window, pool));
        release();
        return lease;
    }

    private Buffer copyOf(MemorySegment window, BufferPool pool) {
        Buffer copy = pool.take(window.byteSize());
        try {
            UnguardedCopy.copy(window, copy.segment(), status.name(), mapping);
            return copy;
        } catch (Throwable t) {
            copy.close();
            throw t;
        }
    }

    /** The one place that touches unguarded mappings: a fault's {@link InternalError} becomes an error response. */
    static final class UnguardedCopy {
        /** A copy cannot be stopped for the garbage collector, so a large one is done in pieces. */
        private static final long PIECE_BYTES = CooperativeYield.COPY_STEP;

        private UnguardedCopy() {}

        /**
         * Copies {@code source} to {@code target} of the same size, of which one lies in {@code mapping}.
         *
         * @throws GatunException INVALID_ARGUMENT when the mapping's object was truncated meanwhile; the content of the
         *     target is undefined then
         */
        static void copy(MemorySegment source, MemorySegment target, String region, RegionMapping mapping) {
            try {
                long byteSize = source.byteSize();
                for (long at = 0; at < byteSize; at += PIECE_BYTES) {
                    MemorySegment.copy(source, at, target, at, Math.min(PIECE_BYTES, byteSize - at));
                    if (byteSize > PIECE_BYTES) {
                        CooperativeYield.now();
                    }
                }
                // The error may be delivered late, at the next return from native code: this is one, and looks again
                // itself.
                mapping.checkUsable();
            } catch (InternalError e) {
                // Nothing else fails so here: this is how the JVM tells of a fault.
                throw RegionErrors.broken(region);
            }
        }
    }

    /**
     * A window whose results are written to a buffer first and copied to the region when they are complete. The buffer
     * begins as a copy of the window, so that what the engine leaves alone stays as it was and never shows another
     * request's data.
     */
    static final class StagedLease implements RegionLease {
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

    /** A window of a region that is used in place. */
    static final class WindowLease implements RegionLease {
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
}
