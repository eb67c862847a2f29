// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory that is used again by each run, and grows where one needs more. For one thread at a time. */
final class Scratch implements AutoCloseable {
    private static final long ALIGNMENT = 64;

    private Arena arena = Arena.ofShared();
    private MemorySegment memory = MemorySegment.NULL;

    /** Memory of this size; what was there before is lost. */
    MemorySegment of(long byteSize) {
        if (memory.byteSize() < byteSize) {
            arena.close();
            arena = Arena.ofShared();
            memory = MemorySegment.NULL;
            memory = arena.allocate(byteSize, ALIGNMENT);
        }
        return memory.asSlice(0, byteSize);
    }

    @Override
    public void close() {
        arena.close();
    }

    /** Arguments of the calls that runs make. */
    static final class Pointers {
        private Pointers() {}

        /**
         * The address of memory that outlives the call. With the memory itself the JVM would hold its arena during the
         * call, for each argument, which takes longer than small forests.
         */
        static MemorySegment to(MemorySegment memory) {
            return MemorySegment.ofAddress(memory.address());
        }
    }
}
