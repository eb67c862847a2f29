// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.bindings.Descriptor;
import gatun.bindings.NativeMemory;
import gatun.bindings.Posix;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Objects;

/**
 * A file in memory that other processes of the same user map too. Nobody can change its size, so that neither side
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

    /**
     * A file of zeros.
     *
     * @param name for whoever looks at the process's files
     * @throws gatun.bindings.SystemCallException when the system refuses
     */
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

    /** Where another process of this user opens it while it is not closed here. */
    public Path path() {
        return Path.of(
                "/proc", Long.toString(ProcessHandle.current().pid()), "fd", Integer.toString(descriptor.number()));
    }

    /** Its size in bytes. */
    public long byteSize() {
        return byteSize;
    }

    /**
     * A part of it; valid until {@link #close}.
     *
     * @throws IndexOutOfBoundsException when there is no such part
     */
    public MemorySegment segment(long offset, long length) {
        Objects.checkFromIndexSize(offset, length, byteSize);
        return NativeMemory.segment(base + offset, length);
    }

    /** Where it begins here. */
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
