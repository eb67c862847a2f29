// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.memory.threads.PaddedLong;
import org.jspecify.annotations.Nullable;

/**
 * The idle buffers of one size, the latest on top because its memory is warm. Lock-free and without allocation.
 *
 * <p>Buffers are linked by their numbers rather than by reference, so that the top and a count of its changes fit one
 * word: a thread that was stopped between reading the top and replacing it fails, even if the same buffer has come back
 * to the top meanwhile.
 */
final class BufferStack {
    /** The number that no buffer has: the end of the chain. */
    static final int NO_BUFFER = 0;

    private static final long NUMBER_MASK = 0xFFFF_FFFFL;

    /** Upper half: how often this word was changed. Lower half: number of the top buffer. */
    private final PaddedLong top = new PaddedLong();

    /** Takes the top buffer; null when there is none. */
    @Nullable
    Buffer pop(BufferTable buffers) {
        while (true) {
            long seen = top.get();
            int number = (int) seen;
            if (number == NO_BUFFER) {
                return null;
            }
            Buffer buffer = buffers.get(number);
            // Another thread may own the buffer by now and change its link: then the top has changed too.
            if (top.compareAndSet(seen, word(seen, buffer.below))) {
                return buffer;
            }
        }
    }

    /** Puts a buffer on top; what was written before is seen by the thread that pops it. */
    void push(Buffer buffer) {
        while (true) {
            long seen = top.get();
            buffer.below = (int) seen;
            if (top.compareAndSet(seen, word(seen, buffer.number))) {
                return;
            }
        }
    }

    /** Takes all buffers at once and returns the number of the top one; they stay linked by {@link Buffer#below}. */
    int popAll() {
        while (true) {
            long seen = top.get();
            if (top.compareAndSet(seen, word(seen, NO_BUFFER))) {
                return (int) seen;
            }
        }
    }

    private static long word(long seen, int number) {
        return ((seen & ~NUMBER_MASK) + (1L << Integer.SIZE)) | number;
    }
}
