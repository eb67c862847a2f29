// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import java.util.Base64;

/** Decodes base64 of any length in native memory, a window of it at a time on the heap. Stateless. */
final class Base64InPlace {
    /** Text that is decoded at a time, in bytes; four of them are three of the result. */
    private static final int WINDOW = 8 * 1024;

    private Base64InPlace() {}

    /**
     * Decodes {@code text} to the beginning of its own memory, and returns the number of bytes.
     *
     * @throws IllegalArgumentException when it is not base64
     */
    static long decode(MemorySegment text) {
        long end = text.byteSize();
        byte[] window = new byte[(int) Math.min(WINDOW, end)];
        long written = 0;
        CooperativeYield work = new CooperativeYield(CooperativeYield.STEP);
        for (long at = 0; at < end; at += WINDOW) {
            int length = (int) Math.min(WINDOW, end - at);
            byte[] piece = length == window.length ? window : new byte[length];
            MemorySegment.copy(text, JAVA_BYTE, at, piece, 0, length);
            if (at + length < end && piece[length - 1] == '=') {
                throw new IllegalArgumentException("it goes on behind its end at byte " + (at + length));
            }
            byte[] bytes = Base64.getDecoder().decode(piece);
            MemorySegment.copy(bytes, 0, text, JAVA_BYTE, written, bytes.length);
            written += bytes.length;
            work.worked(length);
        }
        return written;
    }
}
