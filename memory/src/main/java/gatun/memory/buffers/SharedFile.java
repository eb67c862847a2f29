// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.bindings.Descriptor;
import gatun.bindings.NativeMemory;
import gatun.bindings.Posix;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * A file in memory that other processes map too. Nobody can change its size, so that neither side
 * reaches behind its end. A page costs memory from its first use on. Safe for any thread; whoever made it closes it
 * after the last use of its memory.
 */
public final class SharedFile implements AutoCloseable {
    private final Descriptor descriptor;
    private final long base;
    private final long byteSize;

    private SharedFile(Descriptor descriptor, long base, long byteSize) {
        this.descriptor = descriptor;
        this.base = base;
        this.byteSize = byteSize;
    }

    /** A file of zeros, named so among the process's files. Throws SystemCallException when the system refuses. */
    public static SharedFile create(String name, long byteSize) {
        Descriptor file = Posix.memfdCreate(name, Posix.MFD_CLOEXEC | Posix.MFD_ALLOW_SEALING);
        try {
            Posix.ftruncate(file, byteSize);
            Posix.addSeals(file, Posix.F_SEAL_SHRINK | Posix.F_SEAL_GROW | Posix.F_SEAL_SEAL);
            long base = Posix.map(byteSize, Posix.PROT_READ | Posix.PROT_WRITE, Posix.MAP_SHARED, file, 0);
            return new SharedFile(file, base, byteSize);
        } catch (RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /**
     * A file that another process has made and that this one was started with: the only way for one of another user.
     * Owns {@code descriptor}; {@code readOnly} if nothing is written here. Throws SystemCallException when the system
     * refuses, IllegalArgumentException when the file may become shorter.
     */
    public static SharedFile inherited(int descriptor, boolean readOnly) {
        Descriptor file = Posix.inherited(descriptor);
        return map(file, Posix.fstat(file).byteSize(), readOnly);
    }

    private static SharedFile map(Descriptor file, long byteSize, boolean readOnly) {
        try {
            if ((Posix.seals(file) & Posix.F_SEAL_SHRINK) == 0) {
                throw new IllegalArgumentException("the file of " + file + " is not sealed against becoming shorter");
            }
            int protection = readOnly ? Posix.PROT_READ : Posix.PROT_READ | Posix.PROT_WRITE;
            return new SharedFile(file, Posix.map(byteSize, protection, Posix.MAP_SHARED, file, 0), byteSize);
        } catch (RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** Where other processes of this user open it while it is not closed here. */
    public Path path() {
        return Path.of(
                "/proc", Long.toString(ProcessHandle.current().pid()), "fd", Integer.toString(descriptor.number()));
    }

    /** Its size in bytes. */
    public long byteSize() {
        return byteSize;
    }

    /** A part, valid until {@link #close}. Throws IndexOutOfBoundsException when there is no such part. */
    public MemorySegment segment(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, byteSize);
        return NativeMemory.segment(base + offset, length);
    }

    /** Where {@code part} begins in it; empty when that does not lie in it. */
    public OptionalLong offsetOf(MemorySegment part) {
        long offset = part.address() - base;
        return part.isNative() && offset >= 0 && offset <= byteSize - part.byteSize()
                ? OptionalLong.of(offset)
                : OptionalLong.empty();
    }

    long base() {
        return base;
    }

    /** Gives the memory of these pages back to the system; they read as zero everywhere. */
    void discard(long offset, long length) {
        Posix.madvise(base + offset, length, Posix.MADV_REMOVE);
    }

    @Override
    public void close() {
        Posix.munmap(base, byteSize);
        descriptor.close();
    }
}
