// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** An instance's aligned copies of misaligned inputs, as large as the largest. Not thread-safe. */
final class AlignedCopies implements AutoCloseable {
    private static final int ALIGNMENT = 64;

    private final Arena[] arenas;
    private final MemorySegment[] copies;

    AlignedCopies(int inputs) {
        arenas = new Arena[inputs];
        copies = new MemorySegment[inputs];
    }

    /** A copy of {@code bytes} for input {@code index}; valid until the next call for it. */
    MemorySegment copy(int index, MemorySegment bytes) {
        long byteSize = bytes.byteSize();
        if (copies[index] == null || copies[index].byteSize() < byteSize) {
            if (arenas[index] != null) {
                arenas[index].close();
            }
            arenas[index] = Arena.ofShared();
            // To the next power of two, since closing a shared arena stops all threads for a moment.
            copies[index] = arenas[index].allocate(Long.highestOneBit(byteSize) << 1, ALIGNMENT);
        }
        MemorySegment copy = copies[index].asSlice(0, byteSize);
        copy.copyFrom(bytes);
        return copy;
    }

    @Override
    public void close() {
        for (Arena arena : arenas) {
            if (arena != null) {
                arena.close();
            }
        }
    }
}
