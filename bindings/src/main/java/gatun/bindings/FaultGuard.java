// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import java.util.Optional;

/**
 * Keeps the process alive when a client truncates a shared object that is mapped here.
 *
 * <p>Without it, native code that touches lost memory raises SIGBUS and the process ends. With it, a small C library
 * gets the signal first: inside a guarded region it maps zero pages over the rest of the region and marks the region
 * broken, so that the access reads zeros; any other SIGBUS goes on to the JVM. Java code that touches a guarded region
 * reads zeros too instead of getting an {@code InternalError}. Results computed from a broken region are worth nothing:
 * look at {@link RegionGuard#broken} after the use.
 *
 * <p>The library is built from {@code bindings/src/main/c} where a C compiler is at hand. Without it there is no guard,
 * and shared memory that somebody else can truncate must be copied instead. All methods are thread-safe.
 */
public sealed interface FaultGuard {
    /**
     * Guards a mapping.
     *
     * @param address where it begins, as from {@link Posix#map}
     * @param byteSize its size, at least 1
     * @param protection its {@code PROT_} bits, which the zero pages get too
     * @return the guard, which the caller owns; empty when there is no guard or no room for one more, and then the
     *     memory must be copied
     */
    Optional<RegionGuard> protect(long address, long byteSize, int protection);

    /** Installs this process's guard, with its library in {@code cache}, once. Call it at start. */
    static FaultGuard install(LibraryCache cache) {
        return GuardLibrary.install(cache);
    }

    /** The guard works. */
    final class Installed implements FaultGuard {
        private final GuardLibrary library;

        Installed(GuardLibrary library) {
            this.library = library;
        }

        /** How many regions can be guarded at a time. */
        public int capacity() {
            return library.capacity();
        }

        @Override
        public Optional<RegionGuard> protect(long address, long byteSize, int protection) {
            if (byteSize <= 0 || address % Posix.pageSize() != 0) {
                throw new IllegalArgumentException("cannot guard " + byteSize + " bytes at 0x"
                        + Long.toHexString(address) + ": expected a mapping that begins on a page and is not empty");
            }
            return library.protect(address, byteSize, protection);
        }
    }

    /** There is no guard, for a {@code reason} that the operator is told. */
    record Absent(String reason) implements FaultGuard {
        @Override
        public Optional<RegionGuard> protect(long address, long byteSize, int protection) {
            return Optional.empty();
        }
    }
}
