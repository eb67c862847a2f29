// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A pool's buffers by number, from 1. Look-ups are thread-safe; changes guarded by the pool's lock. */
final class BufferTable {
    private volatile @Nullable Buffer[] buffers = new @Nullable Buffer[64];
    private int next = 1;
    private int[] unused = new int[64];
    private int unusedCount;

    /** The buffer of that number, which a {@link BufferStack} named. */
    Buffer get(int number) {
        return Objects.requireNonNull(buffers[number]);
    }

    /** A number for a buffer that is going to be {@link #put}. */
    int reserve() {
        if (unusedCount > 0) {
            return unused[--unusedCount];
        }
        @Nullable Buffer[] present = buffers;
        if (next == present.length) {
            buffers = Arrays.copyOf(present, present.length * 2);
        }
        return next++;
    }

    /** Makes {@code buffer} known, or replaces the one of its number. */
    void put(Buffer buffer) {
        buffers[buffer.number] = buffer;
    }

    /** Forgets a buffer without holders. Keeps the entry, which a reader of an old stack top may still look at. */
    void remove(Buffer buffer) {
        if (unusedCount == unused.length) {
            unused = Arrays.copyOf(unused, unused.length * 2);
        }
        unused[unusedCount++] = buffer.number;
    }
}
