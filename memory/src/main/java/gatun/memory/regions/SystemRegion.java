// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionUse.RegionKind;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiConsumer;

/** A registered region of system shared memory. Thread-safe. */
final class SystemRegion extends Region {
    private final SystemRegionStatus status;
    private final RegionMapping mapping;

    /** A region that owns {@code mapping}. */
    SystemRegion(SystemRegionStatus status, RegionMapping mapping, BiConsumer<Region, Runnable> releaser) {
        super(releaser, mapping::close);
        this.status = status;
        this.mapping = mapping;
    }

    @Override
    SystemRegionStatus status() {
        return status;
    }

    @Override
    RegionUse use() {
        OptionalLong owner =
                owner().map(process -> OptionalLong.of(process.pid())).orElseGet(OptionalLong::empty);
        OptionalLong user = OptionalLong.of(mapping.user());
        return new RegionUse(status, Optional.of(kind()), owner, user, users(), isLeaving());
    }

    /** How the server is protected from the region's owner. */
    RegionKind kind() {
        return mapping.kind();
    }

    @Override
    Object object() {
        return mapping.object();
    }

    long objectOffset(MemorySegment window) {
        return status.offset() + window.address() - mapping.bytes().address();
    }

    Optional<ProcessIdentity> owner() {
        return mapping.owner();
    }

    /** Whether no process but this one can reach the object any more. Looks through all processes. */
    boolean isAbandoned() {
        return mapping.isAbandoned();
    }

    @Override
    RegionLease lease(long offset, long byteSize, RegionRegistry.Access access, BufferPool pool) {
        mapping.checkUsable();
        MemorySegment window = mapping.bytes().asSlice(offset, byteSize);
        boolean inPlace = mapping.kind() != RegionKind.COPIED;
        return switch (access) {
            case READ -> inPlace ? new InPlaceLease(this, window) : snapshot(copyOf(window, pool));
            case SNAPSHOT -> snapshot(copyOf(window, pool));
            case WRITE -> {
                mapping.makeWritable();
                yield inPlace ? new InPlaceLease(this, window) : new StagedLease(this, window, copyOf(window, pool));
            }
        };
    }

    /** Takes another lease on what was borrowed before; false where it cannot be used now. */
    boolean acquireAgain() {
        if (!tryAcquire()) {
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

        /** Copies {@code source} to a target of the same size, one of them in {@code mapping}. Throws if truncated. */
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
     * A window whose results are written to a buffer first, and copied to the region when complete. The buffer begins
     * as a copy of the window: what the engine leaves alone stays, and no other request's data is shown.
     */
    private static final class StagedLease extends WindowLease<SystemRegion> {
        private final MemorySegment window;
        private final Buffer staged;

        StagedLease(SystemRegion region, MemorySegment window, Buffer staged) {
            super(region);
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
        public long objectOffset() {
            return region.objectOffset(window);
        }

        @Override
        public void settle() {
            UnguardedCopy.copy(staged.segment(), window, region.status.name(), region.mapping);
        }

        @Override
        void closeCopy() {
            staged.close();
        }
    }

    /** A window of a region that is used in place. */
    private static final class InPlaceLease extends WindowLease<SystemRegion> {
        private final MemorySegment window;

        InPlaceLease(SystemRegion region, MemorySegment window) {
            super(region);
            this.window = window;
        }

        @Override
        public MemorySegment segment() {
            return window;
        }

        @Override
        public long objectOffset() {
            return region.objectOffset(window);
        }

        @Override
        public void settle() {
            region.mapping.checkUnbroken();
        }

        @Override
        public boolean renew() {
            if (!isClosed() || !region.acquireAgain()) {
                return false;
            }
            reopen();
            return true;
        }
    }
}
