// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.lang.foreign.MemoryLayout.PathElement.groupElement;

import gatun.bindings.posix.posix_h;
import gatun.bindings.posix.stat;
import gatun.bindings.posix.timespec;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * The system calls that Gatun makes, one method each, under their C names.
 *
 * <p>Every call takes its own capture of {@code errno} and throws {@link SystemCallException} with it. A call that a
 * signal interrupted is made again, except for waiting on a futex. All methods are thread-safe. Each holds the carrier
 * thread while it runs; {@link #munmap}, {@link #posixFallocate} and {@link #futexWait} can do so for long and do not
 * belong on virtual threads.
 */
public final class Posix {
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
    public static final int O_NOFOLLOW = posix_h.O_NOFOLLOW();
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

    private static final int FAILED = -1;
    /** No errno is greater, and no result that means success lies between its negative and 0. */
    private static final int GREATEST_ERRNO = 4095;

    /** The unit of {@code st_blocks}, in bytes, whatever the file system's own block size. */
    private static final long STAT_BLOCK_BYTES = 512;

    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final MemoryLayout CALL_STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = CALL_STATE.varHandle(groupElement("errno"));

    private Posix() {}

    // Files

    /**
     * Opens a POSIX shared memory object.
     *
     * @param key its name with one leading slash, already checked by the caller
     * @param flags {@code O_} bits
     * @param mode permission bits for an object that is created, else unused
     */
    public static Descriptor shmOpen(String key, int flags, int mode) {
        int number = (int) checked("shm_open", key, (state, scratch) ->
                (int) ShmOpen.HANDLE.invokeExact(state, scratch.allocateFrom(key), flags, mode));
        return new Descriptor(number, key);
    }

    /** Removes the name of a POSIX shared memory object. Mappings and descriptors stay. */
    public static void shmUnlink(String key) {
        checked("shm_unlink", key, (state, scratch) ->
                (int) ShmUnlink.HANDLE.invokeExact(state, scratch.allocateFrom(key)));
    }

    /** Opens an existing file, for instance {@code /proc/<pid>/fd/<n>}. */
    public static Descriptor open(String path, int flags) {
        int number = (int) checked("open", path, (state, scratch) ->
                (int) Open.HANDLE.invokeExact(state, scratch.allocateFrom(path), flags, 0));
        return new Descriptor(number, path);
    }

    /**
     * Creates an empty memory object without a name in any file system.
     *
     * @param name a label that shows up in {@code /proc}
     * @param flags {@code MFD_} bits
     */
    public static Descriptor memfdCreate(String name, int flags) {
        int number = (int) checked("memfd_create", name, (state, scratch) ->
                (int) MemfdCreate.HANDLE.invokeExact(state, scratch.allocateFrom(name), flags));
        return new Descriptor(number, "memfd " + name);
    }

    /** Gives the file this size; new bytes read as zero and have no memory behind them yet. */
    public static void ftruncate(Descriptor file, long byteSize) {
        checked("ftruncate", file + " to " + byteSize + " bytes", (state, scratch) ->
                (int) Ftruncate.HANDLE.invokeExact(state, file.number(), byteSize));
    }

    /**
     * Puts memory behind {@code byteSize} bytes from {@code offset} on, enlarging the file when it ends earlier. Fails
     * with {@link Errno#ENOSPC} when the file system has no room; then a later write cannot fault for that reason.
     */
    public static void posixFallocate(Descriptor file, long offset, long byteSize) {
        // The one call that returns the error instead of setting errno.
        int error;
        do {
            try {
                error = (int) PosixFallocate.HANDLE.invokeExact(file.number(), offset, byteSize);
            } catch (RuntimeException | Error e) {
                throw e;
            } catch (Throwable t) {
                throw new AssertionError("a method handle does not fit its call", t);
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
            checked("fstat", file, (state, scratch) -> (int) Fstat.HANDLE.invokeExact(state, file.number(), status));
            return new FileStatus(
                    stat.st_size(status),
                    stat.st_blocks(status) * STAT_BLOCK_BYTES,
                    stat.st_dev(status),
                    stat.st_ino(status),
                    stat.st_uid(status),
                    stat.st_mode(status));
        }
    }

    /**
     * Adds seals to an object made with {@link #MFD_ALLOW_SEALING}.
     *
     * @param seals {@code F_SEAL_} bits
     */
    public static void addSeals(Descriptor file, int seals) {
        succeeded("fcntl F_ADD_SEALS", file, fcntl(file, posix_h.F_ADD_SEALS(), seals));
    }

    /** The {@code F_SEAL_} bits that hold; 0 for a file of a kind that cannot be sealed. */
    public static int seals(Descriptor file) {
        long seals = fcntl(file, posix_h.F_GET_SEALS(), 0);
        return seals == -Errno.EINVAL.code() ? 0 : (int) succeeded("fcntl F_GET_SEALS", file, seals);
    }

    /** Has the descriptor closed when the process executes another program. */
    public static void setCloseOnExec(Descriptor file) {
        succeeded("fcntl F_SETFD", file, fcntl(file, posix_h.F_SETFD(), posix_h.FD_CLOEXEC()));
    }

    private static long fcntl(Descriptor file, int command, int argument) {
        return attempt((state, scratch) -> (int) Fcntl.HANDLE.invokeExact(state, file.number(), command, argument));
    }

    static void close(int number, Object subject) {
        long result = attempt((state, scratch) -> (int) Close.HANDLE.invokeExact(state, number));
        // Linux frees the number before it can be interrupted: closing again could hit somebody else's.
        if (result != -Errno.EINTR.code()) {
            succeeded("close", subject, result);
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

    /**
     * Maps {@code byteSize} zero bytes that belong to this process alone. The caller gives them back by
     * {@link #munmap}.
     */
    public static long mapAnonymous(long byteSize, int protection) {
        int flags = posix_h.MAP_PRIVATE() | posix_h.MAP_ANONYMOUS();
        return mmap(MemorySegment.NULL, byteSize, protection, flags, FAILED, 0, "anonymous memory");
    }

    /**
     * Sets address space aside without asking the system for memory: each page comes when it is first touched and reads
     * as zero then. The caller gives it back by {@link #munmap}.
     */
    public static long reserve(long byteSize, int protection) {
        int flags = posix_h.MAP_PRIVATE() | posix_h.MAP_ANONYMOUS() | posix_h.MAP_NORESERVE();
        return mmap(MemorySegment.NULL, byteSize, protection, flags, FAILED, 0, "reserved address space");
    }

    private static long mmap(
            MemorySegment hint, long byteSize, int protection, int flags, int number, long offset, String subject) {
        return checked(
                "mmap", byteSize + " bytes at offset " + offset + " of " + subject, (state, scratch) -> ((MemorySegment)
                                Mmap.HANDLE.invokeExact(state, hint, byteSize, protection, flags, number, offset))
                        .address());
    }

    /** Gives a mapping back. Takes about 70 ms for a GiB that was in use. */
    public static void munmap(long address, long byteSize) {
        checked("munmap", byteSize + " bytes", (state, scratch) ->
                (int) Munmap.HANDLE.invokeExact(state, MemorySegment.ofAddress(address), byteSize));
    }

    /** Changes the protection of the pages from {@code address} on, which is a multiple of {@link #pageSize}. */
    public static void mprotect(long address, long byteSize, int protection) {
        checked("mprotect", byteSize + " bytes", (state, scratch) ->
                (int) Mprotect.HANDLE.invokeExact(state, MemorySegment.ofAddress(address), byteSize, protection));
    }

    /** Tells the kernel how the pages from {@code address} on, a multiple of {@link #pageSize}, will be used. */
    public static void madvise(long address, long byteSize, int advice) {
        checked("madvise", byteSize + " bytes", (state, scratch) ->
                (int) Madvise.HANDLE.invokeExact(state, MemorySegment.ofAddress(address), byteSize, advice));
    }

    /**
     * Gives the pages back to the system that the C library's allocator keeps of memory which was freed. Takes
     * milliseconds, during which other threads that allocate may wait.
     *
     * @return whether there were any
     */
    public static boolean trimHeap() {
        return posix_h.malloc_trim(0) != 0;
    }

    // Waiting

    /**
     * Waits until another thread or process calls {@link #futexWake} on the word at {@code address}, as long as the
     * word holds {@code expected} when the wait begins.
     *
     * @param address of four bytes, aligned to four
     * @param timeoutNanos the longest wait, at least 0
     */
    public static FutexWait futexWait(long address, int expected, long timeoutNanos) {
        if (timeoutNanos < 0) {
            throw new IllegalArgumentException("timeoutNanos is " + timeoutNanos + ": expected 0 or more");
        }
        long result = futex(address, posix_h.FUTEX_WAIT(), expected, timeoutNanos);
        if (result == -Errno.EAGAIN.code()) {
            return FutexWait.CHANGED;
        }
        if (result == -Errno.ETIMEDOUT.code()) {
            return FutexWait.TIMED_OUT;
        }
        if (result != -Errno.EINTR.code()) {
            succeeded("futex", "FUTEX_WAIT", result);
        }
        return FutexWait.WOKEN;
    }

    /** Wakes at most {@code count} waiters on the word at {@code address} and returns how many there were. */
    public static int futexWake(long address, int count) {
        return (int) succeeded("futex", "FUTEX_WAKE", futex(address, posix_h.FUTEX_WAKE(), count, 0));
    }

    private static long futex(long address, int operation, int value, long timeoutNanos) {
        return attempt((state, scratch) -> {
            MemorySegment timeout = timespec.allocate(scratch);
            timespec.tv_sec(timeout, timeoutNanos / NANOS_PER_SECOND);
            timespec.tv_nsec(timeout, timeoutNanos % NANOS_PER_SECOND);
            long number = posix_h.SYS_futex();
            MemorySegment word = MemorySegment.ofAddress(address);
            return (long) Futex.HANDLE.invokeExact(state, number, word, operation, value, timeout);
        });
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

    /**
     * The C library's text for an error number, in English whatever the locale: {@code No such file or directory
     * (ENOENT)}.
     */
    public static String errorText(int errno) {
        MemorySegment description = posix_h.strerrordesc_np(errno);
        if (description.address() == 0) {
            return "unknown error (errno " + errno + ")";
        }
        return NativeMemory.string(description) + " (" + NativeMemory.string(posix_h.strerrorname_np(errno)) + ")";
    }

    /** One call that tells failure by -1 and sets errno. */
    @FunctionalInterface
    private interface Call {
        long invoke(MemorySegment state, Arena scratch) throws Throwable;
    }

    private static long checked(String call, Object subject, Call body) {
        long result;
        do {
            result = attempt(body);
        } while (result == -Errno.EINTR.code());
        return succeeded(call, subject, result);
    }

    private static long succeeded(String call, Object subject, long result) {
        if (result < 0 && result >= -GREATEST_ERRNO) {
            throw new SystemCallException(call, subject.toString(), (int) -result);
        }
        return result;
    }

    /** The call's result or, as the kernel itself tells it, the negated errno. */
    private static long attempt(Call body) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment state = scratch.allocate(CALL_STATE);
            long result = body.invoke(state, scratch);
            return result == FAILED ? -(int) ERRNO.get(state, 0L) : result;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError("a method handle does not fit its call", t);
        }
    }

    // jextract does not capture errno, so each handle is made anew from the generated address and descriptor. One
    // holder per call:
    // linking one takes milliseconds and happens when the call is first made.

    @SuppressWarnings("restricted")
    private static MethodHandle capturing(MemorySegment address, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(address, descriptor, Linker.Option.captureCallState("errno"));
    }

    @SuppressWarnings("restricted")
    private static MethodHandle capturingVariadic(
            MemorySegment address, int firstVariadic, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(
                address,
                descriptor,
                Linker.Option.captureCallState("errno"),
                Linker.Option.firstVariadicArg(firstVariadic));
    }

    private static final class ShmOpen {
        static final MethodHandle HANDLE = capturing(posix_h.shm_open$address(), posix_h.shm_open$descriptor());
    }

    private static final class ShmUnlink {
        static final MethodHandle HANDLE = capturing(posix_h.shm_unlink$address(), posix_h.shm_unlink$descriptor());
    }

    private static final class Open {
        /** {@code int open(const char *path, int flags, ...)}, with the mode. */
        static final MethodHandle HANDLE = capturingVariadic(
                posix_h.open.address(),
                2,
                FunctionDescriptor.of(posix_h.C_INT, posix_h.C_POINTER, posix_h.C_INT, posix_h.C_INT));
    }

    private static final class MemfdCreate {
        static final MethodHandle HANDLE = capturing(posix_h.memfd_create$address(), posix_h.memfd_create$descriptor());
    }

    private static final class Ftruncate {
        static final MethodHandle HANDLE = capturing(posix_h.ftruncate$address(), posix_h.ftruncate$descriptor());
    }

    private static final class PosixFallocate {
        static final MethodHandle HANDLE = posix_h.posix_fallocate$handle();
    }

    private static final class Fstat {
        static final MethodHandle HANDLE = capturing(posix_h.fstat$address(), posix_h.fstat$descriptor());
    }

    private static final class Fcntl {
        /** {@code int fcntl(int fd, int command, ...)}, with an int. */
        static final MethodHandle HANDLE = capturingVariadic(
                posix_h.fcntl.address(),
                2,
                FunctionDescriptor.of(posix_h.C_INT, posix_h.C_INT, posix_h.C_INT, posix_h.C_INT));
    }

    private static final class Close {
        static final MethodHandle HANDLE = capturing(posix_h.close$address(), posix_h.close$descriptor());
    }

    private static final class Mmap {
        static final MethodHandle HANDLE = capturing(posix_h.mmap$address(), posix_h.mmap$descriptor());
    }

    private static final class Munmap {
        static final MethodHandle HANDLE = capturing(posix_h.munmap$address(), posix_h.munmap$descriptor());
    }

    private static final class Mprotect {
        static final MethodHandle HANDLE = capturing(posix_h.mprotect$address(), posix_h.mprotect$descriptor());
    }

    private static final class Madvise {
        static final MethodHandle HANDLE = capturing(posix_h.madvise$address(), posix_h.madvise$descriptor());
    }

    private static final class Futex {
        /**
         * {@code long syscall(long number, ...)} with {@code uint32_t *word, int operation, uint32_t value, struct
         * timespec *}.
         */
        static final MethodHandle HANDLE = capturingVariadic(
                posix_h.syscall.address(),
                1,
                FunctionDescriptor.of(
                        posix_h.C_LONG,
                        posix_h.C_LONG,
                        posix_h.C_POINTER,
                        posix_h.C_INT,
                        posix_h.C_INT,
                        posix_h.C_POINTER));
    }

    private static final class PageSize {
        static final long BYTES = posix_h.sysconf(posix_h._SC_PAGESIZE());
    }
}
