// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;

/** The meaning of single bytes of a JSON document. */
final class JsonBytes {
    /** The bits of {@code -} and {@code 0} to {@code 9}, from {@code -} on, with {@code .} and {@code /} between. */
    private static final int MINUS_AND_DIGITS = 0b1_1111_1111_1001;

    private JsonBytes() {}

    /** The position of the first byte from {@code position} on that is not blank, or the end. */
    static long blanksFrom(MemorySegment json, long position, long end) {
        return position < end && isBlank(json.get(JAVA_BYTE, position))
                ? behindBlanks(json, position + 1, end)
                : position;
    }

    private static long behindBlanks(MemorySegment json, long position, long end) {
        long next = position;
        for (long stop = CooperativeYield.stop(next, end); next < end; stop = CooperativeYield.yieldAt(next, end)) {
            while (next < stop) {
                if (!isBlank(json.get(JAVA_BYTE, next))) {
                    return next;
                }
                next++;
            }
        }
        return next;
    }

    /** Tests for a minus or a digit together, since the processor cannot guess which of them it is. */
    static boolean beginsNumber(byte first) {
        int offset = first - '-';
        return (offset >= 0 && offset <= '9' - '-' && (MINUS_AND_DIGITS >>> offset & 1) != 0)
                || first == 'N'
                || first == 'I';
    }

    static boolean isBlank(byte c) {
        return c == ' ' || c == '\n' || c == '\r' || c == '\t';
    }
}
