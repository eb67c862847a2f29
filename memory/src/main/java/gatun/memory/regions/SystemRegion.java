// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiConsumer;

/**
 * A registered region of system shared memory. Whoever gives back the last lease of a retired one tells the releaser to
 * unmap it. Safe for any thread.
 */
final class SystemRegion implements Region {
    private final SystemRegionStatus status;
    private final RegionMapping mapping;
    private final LeaseCount leases;

    /**
     * A region that owns {@code mapping}; {@code releaser} is told of its end and how to unmap it, and must not wait for
     * that, since requests call it.
     */
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
}
