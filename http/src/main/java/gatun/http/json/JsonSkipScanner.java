// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.http.json.JsonReader.JsonBytes;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Finds where an array or object ends, by brackets and strings alone. Reports no errors. Not thread-safe. */
final class JsonSkipScanner {
    /** The result where the brackets do not end. */
    static final long OPEN = -1;

    private static final ValueLayout.OfLong EIGHT_BYTES =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;
    private static final long LOW_BITS = 0x7F7F_7F7F_7F7F_7F7FL;
    /** Set in letters, brackets and braces, and in no byte of a number but those of an exponent or a word. */
    private static final long LETTER_BITS = 0xC0C0_C0C0_C0C0_C0C0L;

    private static final long QUOTES = ONES * '"';
    private static final long COMMAS = ONES * ',';

    /** The commas are counted that stand directly in the array of this depth; 1 is that of the outermost. */
    private int countedDepth;

    private long commas;
    private int depth;

    /** Where the array or object ends that begins at {@code position}; {@link #OPEN} where it does not. */
    long pass(MemorySegment text, long position, long end) {
        depth = 0;
        countedDepth = 1;
        commas = isEmptyArray(text, position, end) ? -1 : 0;
        return closing(text, position, end, 0);
    }

    /** How many elements the array has that {@link #pass} passed last. */
    long elementCount() {
        return commas + 1;
    }

    /** As {@link JsonCursor#measureArrays}. An array or object that does not end counts as ending with the text. */
    int measure(MemorySegment text, long position, long end, long[] lengths, int first) {
        int rank = 0;
        long at = position;
        boolean empty = false;
        while (!empty && at < end && text.get(JAVA_BYTE, at) == '[') {
            if (first + rank == lengths.length) {
                return rank + 1;
            }
            empty = isEmptyArray(text, at, end);
            rank++;
            at = JsonBytes.blanksFrom(text, at + 1, end);
        }
        depth = rank;
        for (int level = rank; level > 0; level--) {
            countedDepth = level;
            commas = 0;
            if (at >= 0) {
                at = closing(text, at, end, level - 1);
            }
            lengths[first + level - 1] = level == rank && empty ? 0 : commas + 1;
        }
        return rank;
    }

    private static boolean isEmptyArray(MemorySegment text, long position, long end) {
        long first = JsonBytes.blanksFrom(text, position + 1, end);
        return first < end && text.get(JAVA_BYTE, first) == ']';
    }

    /** Goes on until only {@code wanted} brackets are open; returns where that is, or {@link #OPEN}. */
    private long closing(MemorySegment text, long position, long end, int wanted) {
        long at = position;
        for (long stop = CooperativeYield.stop(at, end); at < end; stop = CooperativeYield.yieldAt(at, end)) {
            at = closing(text, at, stop, end, wanted);
            if (depth == wanted) {
                return at;
            }
        }
        return OPEN;
    }

    /** The same, but goes on no further than to {@code stop}. */
    private long closing(MemorySegment text, long position, long stop, long end, int wanted) {
        long at = position;
        while (at < stop) {
            if (end - at >= Long.BYTES) {
                long eight = text.get(EIGHT_BYTES, at);
                if ((eight & LETTER_BITS) == 0 && zeroBytes(eight ^ QUOTES) == 0) {
                    if (depth == countedDepth) {
                        commas += Long.bitCount(zeroBytes(eight ^ COMMAS));
                    }
                    at += Long.BYTES;
                    continue;
                }
            }
            byte c = text.get(JAVA_BYTE, at++);
            switch (c) {
                case '[', '{' -> depth++;
                case ']', '}' -> {
                    if (--depth == wanted) {
                        return at;
                    }
                }
                case ',' -> commas += depth == countedDepth ? 1 : 0;
                case '"' -> at = stringEnd(text, at, end);
                default -> {
                    // Part of a number or a word.
                }
            }
        }
        return at;
    }

    /** The highest bit of each byte that is zero, in a word of which no byte has its highest bit set. */
    private static long zeroBytes(long word) {
        return ~(word + LOW_BITS) & HIGH_BITS;
    }

    private static long stringEnd(MemorySegment text, long position, long end) {
        long at = position;
        for (long stop = CooperativeYield.stop(at, end); at < end; stop = CooperativeYield.yieldAt(at, end)) {
            while (at < stop) {
                byte c = text.get(JAVA_BYTE, at++);
                if (c == '"') {
                    return at;
                }
                if (c == '\\') {
                    at++;
                }
            }
        }
        return end;
    }
}
