package gatun.memory;

import gatun.bindings.Descriptor;
import gatun.bindings.Errno;
import gatun.bindings.FaultGuard;
import gatun.bindings.FileStatus;
import gatun.bindings.LibraryCache;
import gatun.bindings.Posix;
import gatun.bindings.SystemCallException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The registered regions of system shared memory: sealed memfds and POSIX objects. A region that a request uses stays mapped until that
 * request has ended, whatever happens to its name. Safe for any thread.
 */
public final class SystemRegions implements RegionRegistry {
    /** Regions at a time; each takes two mappings at most, and the system allows a process some 65,000. */
    public static final int MAX_REGIONS = 1024;

    private final Map<String, SystemRegion> regions = new ConcurrentHashMap<>();
    private final RegionReleaser releaser = new RegionReleaser();
    private final BufferPool pool;
    private final FaultGuard guards;
    private volatile boolean closed;

    private SystemRegions(BufferPool pool, FaultGuard guards) {
        this.pool = pool;
        this.guards = guards;
    }

    /**
     * An empty registry. Installs the fault guard in this process where it is available.
     *
     * @param pool lends the memory for copies, where regions must be copied
     */
    public static SystemRegions open(BufferPool pool) {
        return new SystemRegions(pool, FaultGuard.install(LibraryCache.ofUser()));
    }

    /** A registry that copies every POSIX object, as one does where no guard can be built. */
    static SystemRegions withoutGuard(BufferPool pool) {
        return new SystemRegions(pool, new FaultGuard.Absent("left out"));
    }

    /** For the operator, in one line: how POSIX objects are protected, and why so. */
    public String protection() {
        return switch (guards) {
            case FaultGuard.Installed installed ->
                "zero-copy behind the fault guard (up to " + installed.capacity() + " mappings)";
            case FaultGuard.Absent absent -> "copied, because there is no fault guard: " + absent.reason();
        };
    }

    @Override
    public void register(String name, String key, long offset, long byteSize) {
        if (name.isEmpty()) {
            throw GatunException.invalidArgument("'region name' is necessary to register system shared memory region");
        }
        RegionKey parsed = RegionKey.parse(name, key);
        if (regions.containsKey(name)) {
            throw nameTaken(name);
        }
        if (closed || regions.size() >= MAX_REGIONS) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    closed
                            ? "the server is stopping and takes no more shared memory regions"
                            : "there are " + MAX_REGIONS
                                    + " shared memory regions, the most there can be; unregister some");
        }
        SystemRegion region = map(new RegionStatus(name, key, offset, byteSize), parsed);
        if (regions.putIfAbsent(name, region) != null) {
            region.retire();
            throw nameTaken(name);
        }
    }

    private static GatunException nameTaken(String name) {
        return new GatunException(ErrorCode.ALREADY_EXISTS, "shared memory region '" + name + "' already in manager");
    }

    private SystemRegion map(RegionStatus status, RegionKey key) {
        OpenedObject opened =
                switch (key) {
                    case RegionKey.PosixObject posix -> openPosix(status, posix);
                    case RegionKey.ForeignDescriptor foreign -> openSealed(status, foreign);
                };
        try {
            FileStatus file = Posix.fstat(opened.object());
            long offset = status.offset();
            long byteSize = status.byteSize();
            // Both are unsigned on the wire: what is negative here is more than any object holds.
            if (byteSize <= 0 || offset < 0 || byteSize > file.byteSize() || offset > file.byteSize() - byteSize) {
                throw GatunException.invalidArgument(
                        "failed to register shared memory region '" + status.name() + "': invalid args");
            }
            if (opened.writable() && file.allocatedByteSize() < file.byteSize()) {
                back(opened.object(), status);
            }
            return SystemRegion.open(status, opened.object(), opened.sealed(), opened.writable(), guards, releaser);
        } catch (SystemCallException e) {
            opened.object().close();
            throw GatunException.invalidArgument("failed to register shared memory region '" + status.name()
                    + "': unable to process address space: " + Posix.errorText(e.errno()));
        } catch (RuntimeException | Error e) {
            opened.object().close();
            throw e;
        }
    }

    private record OpenedObject(Descriptor object, boolean sealed, boolean writable) {}

    private static OpenedObject openPosix(RegionStatus status, RegionKey.PosixObject key) {
        try {
            return new OpenedObject(Posix.shmOpen(key.path(), Posix.O_RDWR, 0), false, true);
        } catch (SystemCallException e) {
            if (!e.is(Errno.EACCES)) {
                throw cannotOpen(status);
            }
        }
        try {
            return new OpenedObject(Posix.shmOpen(key.path(), Posix.O_RDONLY, 0), false, false);
        } catch (SystemCallException e) {
            throw cannotOpen(status);
        }
    }

    private static OpenedObject openSealed(RegionStatus status, RegionKey.ForeignDescriptor key) {
        try {
            // Before it is opened: opening a device or a pipe could do something.
            if (!Files.readSymbolicLink(Path.of(key.path())).toString().startsWith("/memfd:")) {
                throw notSealed(status);
            }
        } catch (IOException e) {
            throw cannotOpen(status);
        }
        Descriptor object;
        boolean writable = true;
        try {
            object = Posix.open(key.path(), Posix.O_RDWR | Posix.O_CLOEXEC);
        } catch (SystemCallException e) {
            throw cannotOpen(status);
        }
        try {
            FileStatus file = Posix.fstat(object);
            int seals = Posix.seals(object);
            if (!file.isRegularFile() || file.uid() != Posix.effectiveUid() || (seals & Posix.F_SEAL_SHRINK) == 0) {
                throw notSealed(status);
            }
            writable = (seals & Posix.F_SEAL_WRITE) == 0;
            return new OpenedObject(object, true, writable);
        } catch (RuntimeException | Error e) {
            object.close();
            throw e;
        }
    }

    private static GatunException cannotOpen(RegionStatus status) {
        return GatunException.invalidArgument("Unable to open shared memory region: '" + status.key() + "'");
    }

    private static GatunException notSealed(RegionStatus status) {
        return GatunException.invalidArgument("cannot register shared memory region '" + status.name() + "' with key '"
                + status.key() + "': expected a memfd of the server's own user, sealed with F_SEAL_SHRINK");
    }

    /** Puts memory behind the holes of the region, so that no later write of the engine finds the file system full. */
    private static void back(Descriptor object, RegionStatus status) {
        try {
            Posix.posixFallocate(object, status.offset(), status.byteSize());
        } catch (SystemCallException e) {
            if (e.is(Errno.ENOSPC)) {
                throw new GatunException(
                        ErrorCode.UNAVAILABLE,
                        "failed to register shared memory region '" + status.name()
                                + "': its object has holes and there is"
                                + " no memory to fill its " + status.byteSize()
                                + " bytes; enlarge the shared memory file"
                                + " system or register less");
            }
            throw e;
        }
    }

    @Override
    public RegionStatus status(String name) {
        SystemRegion region = regions.get(name);
        if (region == null) {
            throw new GatunException(ErrorCode.NOT_FOUND, "Unable to find system shared memory region: '" + name + "'");
        }
        return region.status();
    }

    @Override
    public List<RegionStatus> statuses() {
        return regions.values().stream()
                .map(SystemRegion::status)
                .sorted(Comparator.comparing(RegionStatus::name))
                .toList();
    }

    /** What protects the region of that name; empty when there is none. */
    public Optional<RegionKind> kind(String name) {
        return Optional.ofNullable(regions.get(name)).map(SystemRegion::kind);
    }

    @Override
    public void unregister(String name) {
        SystemRegion region = regions.remove(name);
        if (region != null) {
            region.retire();
        }
    }

    @Override
    public void unregisterAll() {
        for (String name : List.copyOf(regions.keySet())) {
            unregister(name);
        }
    }

    @Override
    public RegionLease borrow(String name, long offset, long byteSize, Access access) {
        SystemRegion region = regions.get(name);
        if (region == null) {
            throw notRegistered(name);
        }
        long regionByteSize = region.status().byteSize();
        if (offset < 0 || offset >= regionByteSize) {
            throw GatunException.invalidArgument("Invalid offset for shared memory region: '" + name + "'");
        }
        if (Long.compareUnsigned(offset + byteSize, byteSize) < 0) {
            throw GatunException.invalidArgument("Integer overflow detected: byte_size ("
                    + Long.toUnsignedString(byteSize) + ") + offset (" + offset
                    + ") exceeds maximum value (18446744073709551615) for region '" + name + "'");
        }
        if (byteSize < 0 || byteSize > regionByteSize - offset) {
            throw GatunException.invalidArgument("Invalid offset + byte size for shared memory region: '" + name + "'");
        }
        return region.borrow(offset, byteSize, access, pool).orElseThrow(() -> notRegistered(name));
    }

    private static GatunException notRegistered(String name) {
        return new GatunException(ErrorCode.NOT_FOUND, "Unable to find shared memory region: '" + name + "'");
    }

    @Override
    public void close() {
        closed = true;
        unregisterAll();
        releaser.close();
    }
}
