package gatun.memory;

import gatun.bindings.Descriptor;
import gatun.bindings.Errno;
import gatun.bindings.FaultGuard;
import gatun.bindings.Posix;
import gatun.bindings.SystemCallException;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One registered region of system shared memory. Owns its descriptor and mappings: inputs are read through a read-only one, and a writable
 * one is made when the first output is to be written. Safe for any thread.
 */
final class SystemRegion {
    private final RegionStatus status;
    private final RegionKind kind;
    private final Descriptor object;
    private final boolean writable;
    private final FaultGuard guards;
    private final RegionMapping reading;

    /** Where the region ends in its object; a smaller object is a truncated one. */
    private final long endInObject;

    private final LeaseCount leases;

    /** Guards the making of {@link #writing}. */
    private final ReentrantLock lock = new ReentrantLock();

    private volatile Optional<RegionMapping> writing = Optional.empty();
    private volatile boolean truncated;

    private SystemRegion(
            RegionStatus status,
            RegionKind kind,
            Descriptor object,
            boolean writable,
            FaultGuard guards,
            RegionMapping reading,
            RegionReleaser releaser) {
        this.status = status;
        this.kind = kind;
        this.object = object;
        this.writable = writable;
        this.guards = guards;
        this.reading = reading;
        this.endInObject = status.offset() + status.byteSize();
        this.leases = new LeaseCount(() -> releaser.release(this::close));
    }

    /**
     * Maps a region whose range is known to lie inside the object. Takes ownership of the descriptor when it returns.
     *
     * @param sealed whether the object cannot be truncated
     * @throws SystemCallException when the system refuses
     */
    static SystemRegion open(
            RegionStatus status,
            Descriptor object,
            boolean sealed,
            boolean writable,
            FaultGuard guards,
            RegionReleaser releaser) {
        FaultGuard wanted = sealed ? new FaultGuard.Absent("the object is sealed") : guards;
        RegionMapping reading = RegionMapping.open(object, status.offset(), status.byteSize(), false, wanted);
        RegionKind kind = sealed ? RegionKind.SEALED : reading.isGuarded() ? RegionKind.GUARDED : RegionKind.COPIED;
        return new SystemRegion(status, kind, object, writable, wanted, reading, releaser);
    }

    RegionStatus status() {
        return status;
    }

    RegionKind kind() {
        return kind;
    }

    /** Lets no new request in; the region is unmapped when the last one has left. */
    void retire() {
        leases.retire();
    }

    /**
     * A lease on a window whose range is known to lie inside the region; empty when the region has just been retired.
     *
     * @throws GatunException INVALID_ARGUMENT when the client has truncated the object, or an output can't be written
     */
    Optional<RegionLease> borrow(long offset, long byteSize, RegionRegistry.Access access, BufferPool pool) {
        if (!leases.tryAcquire()) {
            return Optional.empty();
        }
        try {
            requireIntact();
            return Optional.of(
                    switch (access) {
                        case READ ->
                            kind == RegionKind.COPIED
                                    ? CopiedLease.snapshot(this, reading.window(offset, byteSize), pool)
                                    : new WindowLease(this, reading.window(offset, byteSize));
                        case SNAPSHOT -> CopiedLease.snapshot(this, reading.window(offset, byteSize), pool);
                        case WRITE -> {
                            RegionMapping mapping = writing();
                            yield kind == RegionKind.COPIED || (kind == RegionKind.GUARDED && !mapping.isGuarded())
                                    ? CopiedLease.staged(this, mapping.window(offset, byteSize), pool)
                                    : new WindowLease(this, mapping.window(offset, byteSize));
                        }
                    });
        } catch (RuntimeException | Error e) {
            leases.release();
            throw e;
        }
    }

    /** Ends one lease. */
    void release() {
        leases.release();
    }

    /**
     * Finds out whether the region is still whole; costs one system call unless the object is sealed.
     *
     * @throws GatunException INVALID_ARGUMENT when it is not
     */
    void requireIntact() {
        if (kind == RegionKind.SEALED) {
            return;
        }
        if (!truncated && (isBroken() || Posix.fstat(object).byteSize() < endInObject)) {
            truncated = true;
        }
        if (truncated) {
            throw truncated();
        }
    }

    /** Remembers that a touch of the region failed. */
    GatunException markTruncated() {
        truncated = true;
        return truncated();
    }

    private boolean isBroken() {
        Optional<RegionMapping> output = writing;
        return reading.broken() || (output.isPresent() && output.get().broken());
    }

    private GatunException truncated() {
        return GatunException.invalidArgument("shared memory region '" + status.name()
                + "' was truncated while it was registered; unregister it, and register it again when its object holds "
                + Long.toUnsignedString(endInObject) + " bytes");
    }

    private RegionMapping writing() {
        Optional<RegionMapping> present = writing;
        if (present.isPresent()) {
            return present.get();
        }
        lock.lock();
        try {
            if (writing.isEmpty()) {
                if (!writable) {
                    throw readOnly();
                }
                writing = Optional.of(RegionMapping.open(object, status.offset(), status.byteSize(), true, guards));
            }
            return writing.get();
        } catch (SystemCallException e) {
            if (e.is(Errno.EACCES) || e.is(Errno.EPERM)) {
                throw readOnly();
            }
            throw new GatunException(
                    ErrorCode.INTERNAL, "shared memory region '" + status.name() + "' cannot be mapped for outputs", e);
        } finally {
            lock.unlock();
        }
    }

    private GatunException readOnly() {
        return GatunException.invalidArgument(
                "shared memory region '" + status.name()
                        + "' cannot take outputs: the server may only read its object; give it write permission and no write seal");
    }

    private void close() {
        try {
            reading.close();
            writing.ifPresent(RegionMapping::close);
        } finally {
            object.close();
        }
    }
}
