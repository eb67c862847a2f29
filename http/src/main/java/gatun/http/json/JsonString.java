// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.memory.threads.CooperativeCopy;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** The string that a {@link JsonReader} read last: where it stands, and what its escapes mean. For one thread. */
final class JsonString {
    private static final ValueLayout.OfLong EIGHT_BYTES =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long ONES = 0x0101_0101_0101_0101L;
    private static final long HIGH_BITS = ONES << 7;

    private long from;
    private long to;
    /** The bytes by which the text is longer than the string in UTF-8. */
    private long saved;

    private boolean escaped;

    /**
     * Reads the string whose opening quote stands at {@code quote}; returns where the byte after its closing one is.
     * Throws INVALID_ARGUMENT for none, {@link JsonCursor#textTooLong} beyond {@code byteLimit} bytes of UTF-8.
     */
    long scan(JsonCursor cursor, MemorySegment json, long quote, long end, long byteLimit) {
        long at = quote + 1;
        from = at;
        saved = 0;
        escaped = false;
        long stop = stop(at, end, byteLimit);
        while (true) {
            at = skipPlain(json, at, stop);
            if (at >= stop) {
                if (at == end) {
                    throw cursor.syntax("Missing a closing quotation mark in string.", at);
                }
                if (at - from - saved > byteLimit) {
                    throw cursor.textTooLong(quote);
                }
                CooperativeYield.now();
                stop = stop(at, end, byteLimit - (at - from - saved));
                continue;
            }
            byte c = json.get(JAVA_BYTE, at);
            if (c == '"') {
                to = at;
                return at + 1;
            }
            if (c == '\\') {
                at = scanEscape(cursor, json, at, end);
            } else if (c == 0) {
                throw cursor.syntax("Missing a closing quotation mark in string.", at);
            } else if (c > 0 && c < ' ') {
                throw cursor.syntax("Invalid escape character in string.", at);
            } else {
                at++;
            }
        }
    }

    /** Where a scan at {@code position} is to look up: where it yields, and where no more than {@code rest} is over. */
    private static long stop(long position, long end, long rest) {
        return Math.min(CooperativeYield.stop(position, end), position + Math.min(rest, Integer.MAX_VALUE) + 1);
    }

    long position() {
        return from - 1;
    }

    /** Bytes of the string in UTF-8. */
    long byteSize() {
        return to - from - saved;
    }

    boolean equalsAscii(MemorySegment json, String expected) {
        int length = expected.length();
        if (byteSize() != length) {
            return false;
        }
        if (escaped) {
            return text(json).equals(expected);
        }
        for (int i = 0; i < length; i++) {
            if (json.get(JAVA_BYTE, from + i) != expected.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** The string; bytes that are not UTF-8 become replacement characters. */
    String text(MemorySegment json) {
        byte[] bytes = new byte[Math.toIntExact(byteSize())];
        if (escaped) {
            copyTo(json, MemorySegment.ofArray(bytes), 0);
        } else {
            MemorySegment.copy(json, JAVA_BYTE, from, bytes, 0, bytes.length);
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Writes the {@link #byteSize} bytes of the string to {@code target}. */
    void copyTo(MemorySegment json, MemorySegment target, long offset) {
        if (!escaped) {
            CooperativeCopy.copy(json, from, target, offset, to - from);
            return;
        }
        long at = from;
        long out = offset;
        for (long stop = CooperativeYield.stop(at, to); at < to; stop = CooperativeYield.yieldAt(at, to)) {
            while (at < stop) {
                byte c = json.get(JAVA_BYTE, at);
                if (c != '\\') {
                    target.set(JAVA_BYTE, out++, c);
                    at++;
                    continue;
                }
                byte kind = json.get(JAVA_BYTE, at + 1);
                if (kind != 'u') {
                    target.set(JAVA_BYTE, out++, unescaped(kind));
                    at += 2;
                    continue;
                }
                int codePoint = hex(json, at + 2);
                at += 6;
                if (Character.isHighSurrogate((char) codePoint)) {
                    codePoint = Character.toCodePoint((char) codePoint, (char) hex(json, at + 2));
                    at += 6;
                }
                out = putUtf8(target, out, codePoint);
            }
        }
    }

    /** The first of {@code at} and later bytes that may end the string or needs a look: quote, backslash, control. */
    private static long skipPlain(MemorySegment json, long at, long end) {
        while (end - at >= Long.BYTES) {
            long eight = json.get(EIGHT_BYTES, at);
            long quote = eight ^ (ONES * '"');
            long backslash = eight ^ (ONES * '\\');
            // The highest bit of each byte that is zero after the xor, or below the blank; exact up to the first.
            long found =
                    ((quote - ONES) & ~quote) | ((backslash - ONES) & ~backslash) | ((eight - ONES * ' ') & ~eight);
            found &= HIGH_BITS;
            if (found != 0) {
                return at + (Long.numberOfTrailingZeros(found) >>> 3);
            }
            at += Long.BYTES;
        }
        while (at < end) {
            byte c = json.get(JAVA_BYTE, at);
            if (c == '"' || c == '\\' || (c >= 0 && c < ' ')) {
                return at;
            }
            at++;
        }
        return at;
    }

    private long scanEscape(JsonCursor cursor, MemorySegment json, long backslash, long end) {
        escaped = true;
        if (backslash + 1 == end) {
            throw cursor.syntax("Missing a closing quotation mark in string.", end);
        }
        byte kind = json.get(JAVA_BYTE, backslash + 1);
        if (kind != 'u') {
            if (unescaped(kind) == 0) {
                throw cursor.syntax("Invalid escape character in string.", backslash);
            }
            saved++;
            return backslash + 2;
        }
        int unit = hex(cursor, json, backslash, end);
        long at = backslash + 6;
        if (!Character.isSurrogate((char) unit)) {
            saved += 6 - utf8ByteSize(unit);
            return at;
        }
        boolean pairFollows = Character.isHighSurrogate((char) unit)
                && end - at >= 2
                && json.get(JAVA_BYTE, at) == '\\'
                && json.get(JAVA_BYTE, at + 1) == 'u';
        if (!pairFollows || !Character.isLowSurrogate((char) hex(cursor, json, at, end))) {
            throw cursor.syntax("The surrogate pair in string is invalid.", backslash);
        }
        saved += 12 - 4;
        return at + 6;
    }

    private static int hex(JsonCursor cursor, MemorySegment json, long backslash, long end) {
        for (long i = backslash + 2; i < backslash + 6; i++) {
            if (i >= end || Character.digit(json.get(JAVA_BYTE, i), 16) < 0) {
                throw cursor.syntax("Incorrect hex digit after \\u escape in string.", backslash);
            }
        }
        return hex(json, backslash + 2);
    }

    private static int hex(MemorySegment json, long at) {
        int value = 0;
        for (int i = 0; i < 4; i++) {
            value = (value << 4) | Character.digit(json.get(JAVA_BYTE, at + i), 16);
        }
        return value;
    }

    /** The byte that a backslash before {@code kind} stands for; 0 when it may not stand there. */
    private static byte unescaped(byte kind) {
        return switch (kind) {
            case '"', '\\', '/' -> kind;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            default -> 0;
        };
    }

    private static int utf8ByteSize(int codePoint) {
        if (codePoint < 0x80) {
            return 1;
        }
        return codePoint < 0x800 ? 2 : 3;
    }

    private static long putUtf8(MemorySegment target, long offset, int codePoint) {
        if (codePoint < 0x80) {
            target.set(JAVA_BYTE, offset, (byte) codePoint);
            return offset + 1;
        }
        if (codePoint < 0x800) {
            target.set(JAVA_BYTE, offset, (byte) (0xC0 | (codePoint >> 6)));
            target.set(JAVA_BYTE, offset + 1, continuation(codePoint));
            return offset + 2;
        }
        if (codePoint < 0x10000) {
            target.set(JAVA_BYTE, offset, (byte) (0xE0 | (codePoint >> 12)));
            target.set(JAVA_BYTE, offset + 1, continuation(codePoint >> 6));
            target.set(JAVA_BYTE, offset + 2, continuation(codePoint));
            return offset + 3;
        }
        target.set(JAVA_BYTE, offset, (byte) (0xF0 | (codePoint >> 18)));
        target.set(JAVA_BYTE, offset + 1, continuation(codePoint >> 12));
        target.set(JAVA_BYTE, offset + 2, continuation(codePoint >> 6));
        target.set(JAVA_BYTE, offset + 3, continuation(codePoint));
        return offset + 4;
    }

    private static byte continuation(int bits) {
        return (byte) (0x80 | (bits & 0x3F));
    }
}
