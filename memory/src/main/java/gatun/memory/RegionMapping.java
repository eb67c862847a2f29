package gatun.memory;

import gatun.bindings.Descriptor;
import gatun.bindings.FaultGuard;
import gatun.bindings.NativeMemory;
import gatun.bindings.Posix;
import gatun.bindings.RegionGuard;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * Owns one mapping of a region's object, read-only or writable, and its guard. Windows of it are valid until it is closed, which takes
 * long for a large one and belongs on the thread that releases regions.
 */
final class RegionMapping implements AutoCloseable {
    private final long mapped;
    private final long mappedByteSize;
    private final long start;
    private final Optional<RegionGuard> guard;

    private RegionMapping(long mapped, long mappedByteSize, long start, Optional<RegionGuard> guard) {
        this.mapped = mapped;
        this.mappedByteSize = mappedByteSize;
        this.start = start;
        this.guard = guard;
    }

    /**
     * Maps {@code byteSize} bytes at {@code offset}, which need not lie on a page.
     *
     * @param guards makes the guard; {@link FaultGuard.Absent} for an object that cannot be truncated
     * @throws gatun.bindings.SystemCallException when the system refuses
     */
    static RegionMapping open(Descriptor object, long offset, long byteSize, boolean writable, FaultGuard guards) {
        long before = offset % Posix.pageSize();
        int protection = writable ? Posix.PROT_READ | Posix.PROT_WRITE : Posix.PROT_READ;
        long length = before + byteSize;
        long mapped = Posix.map(length, protection, Posix.MAP_SHARED, object, offset - before);
        try {
            return new RegionMapping(mapped, length, mapped + before, guards.protect(mapped, length, protection));
        } catch (RuntimeException | Error e) {
            Posix.munmap(mapped, length);
            throw e;
        }
    }

    /** Whether a guard watches it. */
    boolean isGuarded() {
        return guard.isPresent();
    }

    /** Whether somebody touched a part that was gone. */
    boolean broken() {
        return guard.isPresent() && guard.get().broken();
    }

    /** A window of it. Valid until this is closed. */
    MemorySegment window(long offset, long byteSize) {
        return NativeMemory.segment(start + offset, byteSize);
    }

    @Override
    public void close() {
        guard.ifPresent(RegionGuard::close);
        Posix.munmap(mapped, mappedByteSize);
    }
}
