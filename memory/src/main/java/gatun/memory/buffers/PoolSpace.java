// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.bindings.Posix;
import java.util.Optional;

/**
 * The address space of a {@link BufferPool}, which it owns: a file that other processes map too, or, where {@code file}
 * is empty, memory of this process alone. A page costs memory from its first use on. Thread-safe.
 */
record PoolSpace(long base, long byteSize, Optional<SharedFile> file) {
    /** @throws gatun.bindings.SystemCallException when the system refuses */
    static PoolSpace ofProcess(long byteSize) {
        return new PoolSpace(Posix.reserve(byteSize, Posix.PROT_READ | Posix.PROT_WRITE), byteSize, Optional.empty());
    }

    /** @throws gatun.bindings.SystemCallException when the system refuses */
    static PoolSpace shared(String name, long byteSize) {
        SharedFile file = SharedFile.create(name, byteSize);
        return new PoolSpace(file.base(), byteSize, Optional.of(file));
    }

    /** A file that another process has made; owned by this from now on. */
    static PoolSpace of(SharedFile file) {
        return new PoolSpace(file.base(), file.byteSize(), Optional.of(file));
    }

    void discard(long offset, long length) {
        if (file.isPresent()) {
            file.get().discard(offset, length);
        } else {
            Posix.madvise(base + offset, length, Posix.MADV_DONTNEED);
        }
    }

    void release() {
        if (file.isPresent()) {
            file.get().close();
        } else {
            Posix.munmap(base, byteSize);
        }
    }

    /** A run of memory that is divided into small buffers of one size. Guarded by the lock of its {@link BufferBlocks}. */
    static final class Slab {
        /** Where it starts in the pool's address space. */
        final long offset;

        final int count;
        private int idle;
        private int countedIn;

        Slab(long offset, int count) {
            this.offset = offset;
            this.count = count;
        }

        /** Notes that {@code collection}, a number that is new each time, found one of the buffers idle. */
        void countIdle(int collection) {
            if (countedIn != collection) {
                countedIn = collection;
                idle = 0;
            }
            idle++;
        }

        /** Whether the latest collection found every buffer idle. */
        boolean allIdle() {
            return idle == count;
        }
    }
}
