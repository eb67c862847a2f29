// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.bindings.Errno;
import gatun.bindings.FaultGuard;
import gatun.bindings.NativeMemory;
import gatun.bindings.Posix;
import gatun.bindings.Posix.FileStatus;
import gatun.bindings.RegionGuard;
import gatun.bindings.SystemCallException;
import gatun.memory.regions.RegionUse.RegionKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A mapping of a client's object, with its descriptor and guard. Closed once by its owner after the last use of
 * {@link #bytes}; else thread-safe. Read-only until the first write, so that reading cannot spoil a region by mistake.
 */
final class RegionMapping implements AutoCloseable {
    private static final int READ_WRITE = Posix.PROT_READ | Posix.PROT_WRITE;

    private final String region;
    private final SharedObject object;
    private final long address;
    private final long mappedBytes;
    private final Optional<RegionGuard> guard;
    private final RegionKind kind;
    private final MemorySegment bytes;
    private final long objectEnd;
    private final ObjectIdentity identity;
    private final long user;
    private volatile boolean writable;

    private RegionMapping(
            SystemRegionStatus status,
            SharedObject object,
            FileStatus file,
            Optional<RegionGuard> guard,
            long address,
            long mappedBytes) {
        this.region = status.name();
        this.object = object;
        this.identity = ObjectIdentity.of(file);
        this.user = Integer.toUnsignedLong(file.uid());
        this.address = address;
        this.mappedBytes = mappedBytes;
        this.guard = guard;
        this.kind = object.sealed() ? RegionKind.SEALED : guard.isPresent() ? RegionKind.GUARDED : RegionKind.COPIED;
        this.bytes = NativeMemory.segment(address + mappedBytes - status.byteSize(), status.byteSize());
        this.objectEnd = status.offset() + status.byteSize();
    }

    /** Opens and maps a region of unchecked, unsigned offset and size. Throws with the protocol's text. */
    static RegionMapping open(SystemRegionStatus status, RegionKey key, FaultGuard faultGuard) {
        SharedObject object = SharedObject.open(status, key);
        try {
            FileStatus file = object.fileStatus();
            checkInside(status, file.byteSize());
            if (object.writable()) {
                fillHoles(status, object, file);
            }
            return map(status, object, file, faultGuard);
        } catch (Throwable t) {
            object.close();
            throw t;
        }
    }

    private static void checkInside(SystemRegionStatus status, long objectByteSize) {
        boolean inside = status.byteSize() != 0
                && Long.compareUnsigned(status.offset(), objectByteSize) < 0
                && Long.compareUnsigned(status.byteSize(), objectByteSize - status.offset()) <= 0;
        if (!inside) {
            throw RegionErrors.outsideObject(status.name());
        }
    }

    /** Puts memory behind holes, so that a full file system is found out now and not by a fault during an inference. */
    private static void fillHoles(SystemRegionStatus status, SharedObject object, FileStatus file) {
        long byteSize = status.byteSize();
        long missingBytes = Math.min(byteSize, file.byteSize() - file.allocatedByteSize());
        if (missingBytes <= 0) {
            return;
        }
        // A client that may use little memory must not make this process use much in its place.
        if (missingBytes > AvailableMemory.byteSize()) {
            throw RegionErrors.noRoom(status.name(), byteSize);
        }
        PlatformThreads.run("region-memory", () -> {
            try {
                Posix.posixFallocate(object.descriptor(), status.offset(), byteSize);
            } catch (SystemCallException e) {
                throw e.is(Errno.ENOSPC)
                        ? RegionErrors.noRoom(status.name(), byteSize)
                        : RegionErrors.cannotMap(status.name(), e);
            }
        });
    }

    private static RegionMapping map(
            SystemRegionStatus status, SharedObject object, FileStatus file, FaultGuard faultGuard) {
        // Mappings begin on a page, regions where the client likes.
        long lead = status.offset() % Posix.pageSize();
        long mappedBytes = lead + status.byteSize();
        long address;
        try {
            address = Posix.map(
                    mappedBytes, Posix.PROT_READ, Posix.MAP_SHARED, object.descriptor(), status.offset() - lead);
        } catch (SystemCallException e) {
            throw RegionErrors.cannotMap(status.name(), e);
        }
        try {
            Optional<RegionGuard> guard =
                    object.sealed() ? Optional.empty() : faultGuard.protect(address, mappedBytes, READ_WRITE);
            return new RegionMapping(status, object, file, guard, address, mappedBytes);
        } catch (Throwable t) {
            Posix.munmap(address, mappedBytes);
            throw t;
        }
    }

    /** How the server is kept safe from the object's owner. */
    RegionKind kind() {
        return kind;
    }

    ObjectIdentity object() {
        return identity;
    }

    long user() {
        return user;
    }

    Optional<ProcessIdentity> owner() {
        return object.owner();
    }

    /** Whether it is a memfd that no other process has open or mapped. Looks through all processes. */
    boolean isAbandoned() {
        return object.sealed() && !OpenObjects.isHeldElsewhere(identity);
    }

    /** The region, while this is open; only {@link SystemRegion.UnguardedCopy} may touch a COPIED one. */
    MemorySegment bytes() {
        return bytes;
    }

    /** Throws INVALID_ARGUMENT when the owner truncated the object. */
    void checkUsable() {
        checkUnbroken();
        if (kind != RegionKind.SEALED) {
            long presentBytes = object.fileStatus().byteSize();
            if (presentBytes < objectEnd) {
                throw RegionErrors.shrunk(region, presentBytes, objectEnd);
            }
        }
    }

    /** Throws INVALID_ARGUMENT when a page that was touched was not there. Costs two loads. */
    void checkUnbroken() {
        if (guard.isPresent() && guard.get().broken()) {
            throw RegionErrors.broken(region);
        }
    }

    /** Lets the pages be written from now on. Throws INVALID_ARGUMENT when the server may only read the object. */
    void makeWritable() {
        if (writable) {
            return;
        }
        if (!object.writable()) {
            throw RegionErrors.readOnly(region);
        }
        try {
            // Two threads may both come here: the second call changes nothing.
            Posix.mprotect(address, mappedBytes, READ_WRITE);
        } catch (SystemCallException e) {
            throw e.is(Errno.EACCES) || e.is(Errno.EPERM)
                    ? RegionErrors.readOnly(region)
                    : RegionErrors.cannotMap(region, e);
        }
        writable = true;
    }

    /** Unmaps the region. Takes up to 90 ms per GiB: never on the thread of a request. */
    @Override
    public void close() {
        try (object) {
            // First the guard, which would put pages over whatever is mapped here next.
            guard.ifPresent(RegionGuard::close);
            Posix.munmap(address, mappedBytes);
        }
    }

    /** The objects that other processes hold. Stateless; milliseconds for each hundred processes. */
    static final class OpenObjects {
        private static final Path PROCESSES = Path.of("/proc");
        private static final String MEMFD_LINK = "/memfd:";

        private OpenObjects() {}

        /** Whether another process has the memfd. Those that this may not look into could not register one either. */
        static boolean isHeldElsewhere(ObjectIdentity object) {
            try (DirectoryStream<Path> processes = Files.newDirectoryStream(PROCESSES, "[1-9]*")) {
                Object user = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
                Path self = Path.of("/proc/self").toRealPath();
                for (Path process : processes) {
                    if (!process.equals(self) && isOf(process, user) && holds(process, object)) {
                        return true;
                    }
                }
                return false;
            } catch (IOException | DirectoryIteratorException | UncheckedIOException e) {
                return true;
            }
        }

        private static boolean isOf(Path process, Object user) throws IOException {
            try {
                return Files.getAttribute(process, "unix:uid").equals(user);
            } catch (NoSuchFileException e) {
                return false;
            }
        }

        private static boolean holds(Path process, ObjectIdentity object) {
            try {
                return hasOpen(process, object) || hasMapped(process, object);
            } catch (AccessDeniedException e) {
                return false;
            } catch (IOException | DirectoryIteratorException | UncheckedIOException e) {
                return Files.exists(process);
            }
        }

        private static boolean hasOpen(Path process, ObjectIdentity object) throws IOException {
            try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
                for (Path descriptor : descriptors) {
                    if (isMemfd(descriptor)
                            && Files.getAttribute(descriptor, "unix:ino").equals(object.inode())
                            && Files.getAttribute(descriptor, "unix:dev").equals(object.device())) {
                        return true;
                    }
                }
                return false;
            }
        }

        private static boolean isMemfd(Path descriptor) throws IOException {
            try {
                return Files.readSymbolicLink(descriptor).toString().startsWith(MEMFD_LINK);
            } catch (NoSuchFileException e) {
                // Closed meanwhile.
                return false;
            }
        }

        private static boolean hasMapped(Path process, ObjectIdentity object) throws IOException {
            // All memfds are on the same device; other objects with the same inode number have other names.
            String inode = " " + object.inode() + " ";
            try (Stream<String> mappings = Files.lines(process.resolve("maps"), StandardCharsets.ISO_8859_1)) {
                return mappings.anyMatch(line -> line.contains(MEMFD_LINK) && line.contains(inode));
            }
        }
    }

    /** Identity of a shared memory object, and of its memory as long as the mappings are open. */
    record ObjectIdentity(long device, long inode) {
        static ObjectIdentity of(FileStatus file) {
            return new ObjectIdentity(file.device(), file.inode());
        }
    }
}
