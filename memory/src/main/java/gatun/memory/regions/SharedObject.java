// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.bindings.Descriptor;
import gatun.bindings.Errno;
import gatun.bindings.Posix;
import gatun.bindings.Posix.FileStatus;
import gatun.bindings.SystemCallException;
import gatun.memory.tensor.GatunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A client's shared memory object, opened and checked; owns the descriptor. If {@code sealed} nobody can make it
 * smaller; {@code owner} is the process that offered it, empty for an object with a name.
 */
record SharedObject(Descriptor descriptor, boolean sealed, boolean writable, Optional<ProcessIdentity> owner)
        implements AutoCloseable {
    private static final String MEMFD_LINK = "/memfd:";

    /** Throws {@link GatunException} when there is none, it is not shared memory, or not the client's to offer. */
    static SharedObject open(SystemRegionStatus status, RegionKey key) {
        return switch (key) {
            case RegionKey.PosixObject posix -> openPosix(status, posix.path());
            case RegionKey.ForeignDescriptor descriptor -> openSealed(status, descriptor);
        };
    }

    FileStatus fileStatus() {
        return Posix.fstat(descriptor);
    }

    @Override
    public void close() {
        descriptor.close();
    }

    private static SharedObject openPosix(SystemRegionStatus status, String path) {
        SharedObject object;
        try {
            object = new SharedObject(Posix.shmOpen(path, Posix.O_RDWR, 0), false, true, Optional.empty());
        } catch (SystemCallException e) {
            if (!mayStillBeReadable(e)) {
                throw RegionErrors.cannotOpen(status, e);
            }
            object = openPosixReadOnly(status, path);
        }
        object = object.closedUnless(
                file -> file.isRegularFile() && ObjectPermissions.mayRead(file), () -> RegionErrors.cannotOpen(status));
        if (!object.writable() || ObjectPermissions.mayWrite(object.fileStatus())) {
            return object;
        }
        object.close();
        // The name may have become another object's meanwhile.
        return openPosixReadOnly(status, path)
                .closedUnless(
                        file -> file.isRegularFile() && ObjectPermissions.mayRead(file),
                        () -> RegionErrors.cannotOpen(status));
    }

    private static SharedObject openPosixReadOnly(SystemRegionStatus status, String path) {
        try {
            return new SharedObject(Posix.shmOpen(path, Posix.O_RDONLY, 0), false, false, Optional.empty());
        } catch (SystemCallException e) {
            throw RegionErrors.cannotOpen(status, e);
        }
    }

    private static SharedObject openSealed(SystemRegionStatus status, RegionKey.ForeignDescriptor key) {
        if (isOwnThread(key.pid())) {
            throw RegionErrors.ownDescriptor(status);
        }
        if (!isOwnUser(key.pid())) {
            throw RegionErrors.cannotOpen(status);
        }
        // Looked at before it is opened, since opening some devices has effects; decided by what is open afterwards.
        if (!isMemfdLink(status, key.path())) {
            throw RegionErrors.notSealed(status);
        }
        SharedObject object = openSealed(status, key, true);
        if ((Posix.seals(object.descriptor) & Posix.F_SEAL_WRITE) == 0) {
            return object;
        }
        // A descriptor that could write keeps the kernel from mapping an object that is sealed against writing.
        object.close();
        return openSealed(status, key, false);
    }

    private static SharedObject openSealed(
            SystemRegionStatus status, RegionKey.ForeignDescriptor key, boolean forWriting) {
        // Before it is opened: a number that is given to another process meanwhile is then found to be another's.
        Optional<ProcessIdentity> owner = ProcessIdentity.of(key.pid());
        Descriptor descriptor;
        try {
            descriptor = Posix.open(key.path(), (forWriting ? Posix.O_RDWR : Posix.O_RDONLY) | Posix.O_CLOEXEC);
        } catch (SystemCallException e) {
            if (forWriting && mayStillBeReadable(e)) {
                return openSealed(status, key, false);
            }
            throw RegionErrors.cannotOpen(status, e);
        }
        return new SharedObject(descriptor, true, forWriting, owner)
                .closedUnless(
                        file -> file.isRegularFile()
                                && file.uid() == Posix.effectiveUid()
                                && file.device() == AnonymousMemory.DEVICE
                                && (Posix.seals(descriptor) & Posix.F_SEAL_SHRINK) != 0,
                        () -> RegionErrors.notSealed(status));
    }

    /** This object when its status is right; otherwise it is closed. */
    private SharedObject closedUnless(Predicate<FileStatus> right, Supplier<GatunException> error) {
        try {
            if (right.test(fileStatus())) {
                return this;
            }
            throw error.get();
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    private static boolean mayStillBeReadable(SystemCallException e) {
        return e.is(Errno.EACCES) || e.is(Errno.EPERM) || e.is(Errno.EROFS);
    }

    /** Whether {@code pid} is this process; the kernel also answers to the numbers of its threads. */
    private static boolean isOwnThread(long pid) {
        return Files.exists(Path.of("/proc/self/task/" + pid));
    }

    private static boolean isOwnUser(long pid) {
        try {
            return Files.getAttribute(Path.of("/proc/" + pid), "unix:uid").equals(Posix.effectiveUid());
        } catch (IOException e) {
            // No such process, or none that this one may see.
            return false;
        }
    }

    private static boolean isMemfdLink(SystemRegionStatus status, String path) {
        try {
            return Files.readSymbolicLink(Path.of(path)).toString().startsWith(MEMFD_LINK);
        } catch (IOException e) {
            throw RegionErrors.cannotOpen(status);
        }
    }

    /** Where the kernel keeps memfds of ordinary pages; those of huge pages, whose sizes are odd, lie elsewhere. */
    private static final class AnonymousMemory {
        static final long DEVICE = device();

        private static long device() {
            try (Descriptor sample = Posix.memfdCreate("gatun", Posix.MFD_CLOEXEC)) {
                return Posix.fstat(sample).device();
            }
        }
    }

    /**
     * The rights of a server on another user's object. The system decides them, but a server with root's power over
     * files may do only what the object's mode lets everybody do. Stateless.
     */
    static final class ObjectPermissions {
        // Permission bits of everybody, as in C.
        private static final int READABLE = 04;
        private static final int WRITABLE = 02;

        /** Bits of CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH in a process's capabilities. */
        private static final long POWER_OVER_FILES = 0b110;

        private static final String EFFECTIVE = "CapEff:";

        private ObjectPermissions() {}

        /** Whether the object may be read, once the system let it be opened. */
        static boolean mayRead(FileStatus object) {
            return may(object, READABLE);
        }

        /** Whether the object may be written, once the system let it be opened. */
        static boolean mayWrite(FileStatus object) {
            return may(object, WRITABLE);
        }

        private static boolean may(FileStatus object, int bit) {
            return object.uid() == Posix.effectiveUid() || (object.mode() & bit) != 0 || !Power.OVER_FILES;
        }

        /** Looked at once: capabilities are given to a process when it starts. */
        private static final class Power {
            static final boolean OVER_FILES = isOverFiles();

            private static boolean isOverFiles() {
                try {
                    for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                        if (line.startsWith(EFFECTIVE)) {
                            String bits = line.substring(EFFECTIVE.length()).strip();
                            return (Long.parseUnsignedLong(bits, 16) & POWER_OVER_FILES) != 0;
                        }
                    }
                } catch (IOException e) {
                    // Without /proc there is only the user to go by.
                }
                return Posix.effectiveUid() == 0;
            }
        }
    }
}
