package gatun.memory;

import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * A registered region. It stays mapped until it is retired and its last lease is given back; whoever comes last hands the
 * mapping to {@code released}. Safe for any thread.
 */
final class SystemRegion {
    private final RegionStatus status;
    private final RegionMapping mapping;
    private final LeaseCount leases;

    /** A region that owns {@code mapping}; {@code released} must not wait, it is called by requests. */
    SystemRegion(RegionStatus status, RegionMapping mapping, Consumer<RegionMapping> released) {
        this.status = status;
        this.mapping = mapping;
        this.leases = new LeaseCount(() -> released.accept(mapping));
    }

    RegionStatus status() {
        return status;
    }

    /** What protects the server from the region's owner. */
    RegionKind kind() {
        return mapping.kind();
    }

    /** Lets nobody borrow it any more. */
    void retire() {
        leases.retire();
    }

    /** Gives one lease back. */
    void release() {
        leases.release();
    }

    /** As {@link RegionRegistry#borrow}. */
    RegionLease borrow(long offset, long byteSize, RegionRegistry.Access access, BufferPool pool) {
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

    /** Fails when the region broke. */
    void checkUnbroken() {
        mapping.checkUnbroken();
    }

    /** Writes what was staged for {@code window}. */
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

    /** Offset and size are unsigned 64-bit numbers, and their sum may not be one. */
    private void checkWindow(long offset, long byteSize) {
        long regionBytes = status.byteSize();
        if (Long.compareUnsigned(offset, regionBytes) >= 0) {
            throw RegionErrors.offsetOutside(status.name());
        }
        if (Long.compareUnsigned(offset + byteSize, byteSize) < 0) {
            throw RegionErrors.overflow(status.name(), offset, byteSize);
        }
        if (Long.compareUnsigned(offset + byteSize, regionBytes) > 0) {
            throw RegionErrors.endOutside(status.name());
        }
    }
}
