// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.posix.posix_h;
import gatun.bindings.posix.stat;
import gatun.bindings.words.WordFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The system calls that Gatun makes, one method each, under their C names.
 *
 * <p>Every call takes its own capture of {@code errno} and throws {@link SystemCallException} with it. A call that a
 * signal interrupted is made again. All methods are thread-safe. Each holds the carrier thread while it runs;
 * {@link #munmap} and {@link #posixFallocate} can do so for long and do not belong on virtual threads.
 */
public final class Posix {
    private static final Machine MACHINE = Machine.current();

    /** Open for reading. */
    public static final int O_RDONLY = posix_h.O_RDONLY();
    /** Open for reading and writing. */
    public static final int O_RDWR = posix_h.O_RDWR();
    /** Create the object when it does not exist. */
    public static final int O_CREAT = posix_h.O_CREAT();
    /** With {@link #O_CREAT}: fail when it exists. */
    public static final int O_EXCL = posix_h.O_EXCL();
    /** Empty the object on opening. */
    public static final int O_TRUNC = posix_h.O_TRUNC();
    /** Fail when the last part of the path is a symbolic link. */
    public static final int O_NOFOLLOW = MACHINE.noFollow();
    /** Close it when the process executes another program. {@code shm_open} does so by itself. */
    public static final int O_CLOEXEC = posix_h.O_CLOEXEC();

    /** Pages that nobody may touch. */
    public static final int PROT_NONE = posix_h.PROT_NONE();
    /** Pages that may be read. */
    public static final int PROT_READ = posix_h.PROT_READ();
    /** Pages that may be written. */
    public static final int PROT_WRITE = posix_h.PROT_WRITE();

    /** Writes reach the object and everyone who maps it. */
    public static final int MAP_SHARED = posix_h.MAP_SHARED();
    /** Writes stay in this process. */
    public static final int MAP_PRIVATE = posix_h.MAP_PRIVATE();
    /** Touch every page while mapping. */
    public static final int MAP_POPULATE = posix_h.MAP_POPULATE();

    /** Give the pages' memory back to the system; private pages read as zero afterwards. */
    public static final int MADV_DONTNEED = posix_h.MADV_DONTNEED();
    /**
     * Take the pages out of the file that they show: its memory goes back to the system, and it reads as zero there.
     */
    public static final int MADV_REMOVE = 9; // of asm-generic/mman-common.h
    /** Bring all pages in for reading. */
    public static final int MADV_POPULATE_READ = posix_h.MADV_POPULATE_READ();
    /** Bring all pages in for writing. */
    public static final int MADV_POPULATE_WRITE = posix_h.MADV_POPULATE_WRITE();

    /** The new object's descriptor is closed on exec. */
    public static final int MFD_CLOEXEC = posix_h.MFD_CLOEXEC();
    /** The new object may be sealed. */
    public static final int MFD_ALLOW_SEALING = posix_h.MFD_ALLOW_SEALING();

    /** Nobody can add a further seal. */
    public static final int F_SEAL_SEAL = posix_h.F_SEAL_SEAL();
    /** Nobody can make the object smaller. */
    public static final int F_SEAL_SHRINK = posix_h.F_SEAL_SHRINK();
    /** Nobody can make the object larger. */
    public static final int F_SEAL_GROW = posix_h.F_SEAL_GROW();
    /** Nobody can write to the object. */
    public static final int F_SEAL_WRITE = posix_h.F_SEAL_WRITE();

    /** The unit of {@code st_blocks}, in bytes, whatever the file system's own block size. */
    private static final long STAT_BLOCK_BYTES = 512;

    /** The descriptor of a mapping without a file. */
    private static final int NO_FILE = -1;

    private Posix() {}

    // Files

    /** Opens a POSIX shared memory object; {@code key} has one leading slash and was checked by the caller. */
    public static Descriptor shmOpen(String key, int flags, int mode) {
        int number = (int) SystemCall.checked("shm_open", key, (state, scratch) ->
                (int) ShmOpen.HANDLE.invokeExact(state, scratch.allocateFrom(key), flags, mode));
        return new Descriptor(number, key);
    }

    /** Removes the name of a POSIX shared memory object. Mappings and descriptors stay. */
    public static void shmUnlink(String key) {
        SystemCall.checked("shm_unlink", key, (state, scratch) ->
                (int) ShmUnlink.HANDLE.invokeExact(state, scratch.allocateFrom(key)));
    }

    /** Opens an existing file, for instance {@code /proc/<pid>/fd/<n>}. */
    public static Descriptor open(String path, int flags) {
        int number = (int) SystemCall.checked("open", path, (state, scratch) ->
                (int) Open.HANDLE.invokeExact(state, scratch.allocateFrom(path), flags, 0));
        return new Descriptor(number, path);
    }

    /** The descriptor of this number, which this process was started with. */
    public static Descriptor inherited(int number) {
        return new Descriptor(number, "the process that started this one");
    }

    /** Creates an empty memory object without a file name; {@code name} is a label that shows up in {@code /proc}. */
    public static Descriptor memfdCreate(String name, int flags) {
        int number = (int) SystemCall.checked("memfd_create", name, (state, scratch) ->
                (int) MemfdCreate.HANDLE.invokeExact(state, scratch.allocateFrom(name), flags));
        return new Descriptor(number, "memfd " + name);
    }

    /** Gives the file this size; new bytes read as zero and have no memory behind them yet. */
    public static void ftruncate(Descriptor file, long byteSize) {
        SystemCall.checked("ftruncate", file + " to " + byteSize + " bytes", (state, scratch) ->
                (int) Ftruncate.HANDLE.invokeExact(state, file.number(), byteSize));
    }

    /** Allocates {@code byteSize} bytes from {@code offset} on. {@link Errno#ENOSPC} instead of a later fault. */
    public static void posixFallocate(Descriptor file, long offset, long byteSize) {
        // The one call that returns the error instead of setting errno.
        int error;
        do {
            try {
                error = (int) PosixFallocate.HANDLE.invokeExact(file.number(), offset, byteSize);
            } catch (Throwable t) {
                throw NativeCall.unexpected(t);
            }
        } while (error == Errno.EINTR.code());
        if (error != 0) {
            throw new SystemCallException(
                    "posix_fallocate", file + ", " + byteSize + " bytes at offset " + offset, error);
        }
    }

    /** Size, identity, owner and mode of an open file. */
    public static FileStatus fstat(Descriptor file) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = stat.allocate(arena);
            SystemCall.checked(
                    "fstat", file, (state, scratch) -> (int) Fstat.HANDLE.invokeExact(state, file.number(), status));
            return new FileStatus(
                    stat.st_size(status),
                    stat.st_blocks(status) * STAT_BLOCK_BYTES,
                    stat.st_dev(status),
                    stat.st_ino(status),
                    status.get(posix_h.C_INT, MACHINE.uidOffset()),
                    status.get(posix_h.C_INT, MACHINE.modeOffset()));
        }
    }

    /** Adds {@code F_SEAL_} bits to an object made with {@link #MFD_ALLOW_SEALING}. */
    public static void addSeals(Descriptor file, int seals) {
        SystemCall.succeeded("fcntl F_ADD_SEALS", file, fcntl(file, posix_h.F_ADD_SEALS(), seals));
    }

    /** The {@code F_SEAL_} bits that hold; 0 for a file of a kind that cannot be sealed. */
    public static int seals(Descriptor file) {
        long seals = fcntl(file, posix_h.F_GET_SEALS(), 0);
        return seals == -Errno.EINVAL.code() ? 0 : (int) SystemCall.succeeded("fcntl F_GET_SEALS", file, seals);
    }

    private static long fcntl(Descriptor file, int command, int argument) {
        return SystemCall.attempt(
                (state, scratch) -> (int) Fcntl.HANDLE.invokeExact(state, file.number(), command, argument));
    }

    static void close(int number, Object subject) {
        long result = SystemCall.attempt((state, scratch) -> (int) Close.HANDLE.invokeExact(state, number));
        // Linux frees the number before it can be interrupted: closing again could hit somebody else's.
        if (result != -Errno.EINTR.code()) {
            SystemCall.succeeded("close", subject, result);
        }
    }

    // Mappings

    /**
     * Maps {@code byteSize} bytes of {@code file} from {@code offset} on and returns the address. The caller owns the
     * mapping, which outlives the descriptor, and gives it back by {@link #munmap}.
     *
     * @param protection {@code PROT_} bits
     * @param flags {@code MAP_} bits
     * @param offset a multiple of {@link #pageSize}
     */
    public static long map(long byteSize, int protection, int flags, Descriptor file, long offset) {
        return mmap(MemorySegment.NULL, byteSize, protection, flags, file.number(), offset, file.toString());
    }

    /** Maps {@code byteSize} private zero bytes. The caller frees them by {@link #munmap}. */
    public static long mapAnonymous(long byteSize, int protection) {
        int flags = posix_h.MAP_PRIVATE() | posix_h.MAP_ANONYMOUS();
        return mmap(MemorySegment.NULL, byteSize, protection, flags, NO_FILE, 0, "anonymous memory");
    }

    /** Reserves address space, zero pages on first touch. The caller frees it by {@link #munmap}. */
    public static long reserve(long byteSize, int protection) {
        int flags = posix_h.MAP_PRIVATE() | posix_h.MAP_ANONYMOUS() | posix_h.MAP_NORESERVE();
        return mmap(MemorySegment.NULL, byteSize, protection, flags, NO_FILE, 0, "reserved address space");
    }

    private static long mmap(
            MemorySegment hint, long byteSize, int protection, int flags, int number, long offset, String subject) {
        return SystemCall.checked(
                "mmap", byteSize + " bytes at offset " + offset + " of " + subject, (state, scratch) -> ((MemorySegment)
                                Mmap.HANDLE.invokeExact(state, hint, byteSize, protection, flags, number, offset))
                        .address());
    }

    /** Gives a mapping back. Takes about 70 ms for a GiB that was in use. */
    public static void munmap(long address, long byteSize) {
        SystemCall.checked("munmap", byteSize + " bytes", (state, scratch) ->
                (int) Munmap.HANDLE.invokeExact(state, MemorySegment.ofAddress(address), byteSize));
    }

    /** Changes the protection of the pages from {@code address} on, which is a multiple of {@link #pageSize}. */
    public static void mprotect(long address, long byteSize, int protection) {
        SystemCall.checked("mprotect", byteSize + " bytes", (state, scratch) ->
                (int) Mprotect.HANDLE.invokeExact(state, MemorySegment.ofAddress(address), byteSize, protection));
    }

    /** Tells the kernel how the pages from {@code address} on, a multiple of {@link #pageSize}, will be used. */
    public static void madvise(long address, long byteSize, int advice) {
        SystemCall.checked("madvise", byteSize + " bytes", (state, scratch) ->
                (int) Madvise.HANDLE.invokeExact(state, MemorySegment.ofAddress(address), byteSize, advice));
    }

    /**
     * Gives pages that the C library's allocator keeps of freed memory back to the system; returns whether there were
     * any. Takes milliseconds, during which other threads that allocate may wait.
     */
    public static boolean trimHeap() {
        try {
            return (int) ((MemorySegment) MallocTrim.HANDLE.invokeExact(MemorySegment.NULL)).address() != 0;
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    // The process and the system

    /** Bytes in a page of memory. */
    public static long pageSize() {
        return PageSize.BYTES;
    }

    /** The user who started this process. */
    public static int uid() {
        return posix_h.getuid();
    }

    /** The user whose rights this process has. */
    public static int effectiveUid() {
        return posix_h.geteuid();
    }

    /** The C library's text for an error number, in English: {@code No such file or directory (ENOENT)}. */
    public static String errorText(int errno) {
        MemorySegment description = posix_h.strerrordesc_np(errno);
        if (description.address() == 0) {
            return "unknown error (errno " + errno + ")";
        }
        return NativeMemory.string(description) + " (" + NativeMemory.string(posix_h.strerrorname_np(errno)) + ")";
    }

    private static final class MallocTrim {
        static final MethodHandle HANDLE = WordFunctions.find("malloc_trim", 1);
    }

    private static final class ShmOpen {
        static final MethodHandle HANDLE =
                SystemCall.capturing("shm_open", posix_h.C_INT, posix_h.C_POINTER, posix_h.C_INT, posix_h.C_INT);
    }

    private static final class ShmUnlink {
        static final MethodHandle HANDLE = SystemCall.capturing("shm_unlink", posix_h.C_INT, posix_h.C_POINTER);
    }

    private static final class Open {
        /** {@code int open(const char *path, int flags, ...)}, with the mode. */
        static final MethodHandle HANDLE = SystemCall.capturingVariadic(
                posix_h.open.address(),
                2,
                FunctionDescriptor.of(posix_h.C_INT, posix_h.C_POINTER, posix_h.C_INT, posix_h.C_INT));
    }

    private static final class MemfdCreate {
        static final MethodHandle HANDLE =
                SystemCall.capturing("memfd_create", posix_h.C_INT, posix_h.C_POINTER, posix_h.C_INT);
    }

    private static final class Ftruncate {
        static final MethodHandle HANDLE =
                SystemCall.capturing("ftruncate", posix_h.C_INT, posix_h.C_INT, posix_h.C_LONG);
    }

    private static final class PosixFallocate {
        static final MethodHandle HANDLE = posix_h.posix_fallocate$handle();
    }

    private static final class Fstat {
        static final MethodHandle HANDLE =
                SystemCall.capturing("fstat", posix_h.C_INT, posix_h.C_INT, posix_h.C_POINTER);
    }

    private static final class Fcntl {
        /** {@code int fcntl(int fd, int command, ...)}, with an int. */
        static final MethodHandle HANDLE = SystemCall.capturingVariadic(
                posix_h.fcntl.address(),
                2,
                FunctionDescriptor.of(posix_h.C_INT, posix_h.C_INT, posix_h.C_INT, posix_h.C_INT));
    }

    private static final class Close {
        static final MethodHandle HANDLE = SystemCall.capturing("close", posix_h.C_INT, posix_h.C_INT);
    }

    private static final class Mmap {
        static final MethodHandle HANDLE = SystemCall.capturing(
                "mmap",
                posix_h.C_POINTER,
                posix_h.C_POINTER,
                posix_h.C_LONG,
                posix_h.C_INT,
                posix_h.C_INT,
                posix_h.C_INT,
                posix_h.C_LONG);
    }

    private static final class Munmap {
        static final MethodHandle HANDLE =
                SystemCall.capturing("munmap", posix_h.C_INT, posix_h.C_POINTER, posix_h.C_LONG);
    }

    private static final class Mprotect {
        static final MethodHandle HANDLE =
                SystemCall.capturing("mprotect", posix_h.C_INT, posix_h.C_POINTER, posix_h.C_LONG, posix_h.C_INT);
    }

    private static final class Madvise {
        static final MethodHandle HANDLE =
                SystemCall.capturing("madvise", posix_h.C_INT, posix_h.C_POINTER, posix_h.C_LONG, posix_h.C_INT);
    }

    private static final class PageSize {
        static final long BYTES = posix_h.sysconf(posix_h._SC_PAGESIZE());
    }

    /**
     * The result of {@code fstat} for an open file; {@code uid} is the owner's user number, {@code mode} as in C.
     *
     * @param allocatedByteSize bytes that have memory or disk space behind them; less than {@code byteSize} in a file
     *     with holes
     * @param device number of the file system; with {@code inode} it tells whether two descriptors name one object
     */
    public record FileStatus(long byteSize, long allocatedByteSize, long device, long inode, int uid, int mode) {
        /** Whether this is a regular file, which is what shared memory objects are. */
        public boolean isRegularFile() {
            return (mode & posix_h.S_IFMT()) == posix_h.S_IFREG();
        }
    }
}
