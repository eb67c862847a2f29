// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.http.json.JsonWriter;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Base64 in the standard alphabet, from and to native memory. */
final class Base64Text {
    /** The result of {@link #decode} for a text that is not Base64. */
    static final long MALFORMED = -1;

    private static final byte[] ALPHABET =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".getBytes(StandardCharsets.US_ASCII);
    private static final byte NONE = -1;
    private static final byte PADDING = -2;
    private static final byte BLANK = -3;

    /** Of each character the number it stands for, or which of the above it is. */
    private static final byte[] VALUES = new byte[128];

    static {
        Arrays.fill(VALUES, NONE);
        for (byte i = 0; i < ALPHABET.length; i++) {
            VALUES[ALPHABET[i]] = i;
        }
        // As the original reads it: a dot is padding too.
        VALUES['='] = PADDING;
        VALUES['.'] = PADDING;
        for (char blank : " \t\n\u000b\f\r".toCharArray()) {
            VALUES[blank] = BLANK;
        }
    }

    private Base64Text() {}

    /**
     * Replaces the {@code byteSize} bytes of text at {@code offset} by the decoded bytes, which are fewer. Blanks, such
     * as the ends of lines, are passed over, and padding may be missing.
     *
     * @return how many bytes they stand for; {@link #MALFORMED} when there is something in them that is no Base64
     */
    static long decode(MemorySegment segment, long offset, long byteSize) {
        long out = offset;
        long digits = 0;
        long padding = 0;
        int bits = 0;
        int bitCount = 0;
        long at = offset;
        long end = offset + byteSize;
        for (long stop = CooperativeYield.stop(at, end); at < end; stop = CooperativeYield.yieldAt(at, end)) {
            for (; at < stop; at++) {
                byte c = segment.get(JAVA_BYTE, at);
                int value = c < 0 ? NONE : VALUES[c];
                if (value >= 0 && padding == 0) {
                    digits++;
                    bits = bits << 6 | value;
                    bitCount += 6;
                    if (bitCount >= Byte.SIZE) {
                        bitCount -= Byte.SIZE;
                        segment.set(JAVA_BYTE, out++, (byte) (bits >> bitCount));
                    }
                } else if (value == PADDING) {
                    padding++;
                } else if (value != BLANK) {
                    return MALFORMED;
                }
            }
        }
        long open = digits % 4;
        boolean complete = open != 1 && (padding == 0 || (open > 0 && open + padding == 4));
        return complete ? out - offset : MALFORMED;
    }

    /** Writes {@code byteSize} bytes at {@code offset} as text, without quotes. */
    static void encode(JsonWriter json, MemorySegment bytes, long offset, long byteSize) {
        long at = offset;
        long end = offset + byteSize;
        while (end - at >= 3) {
            int three = unsigned(bytes, at) << 16 | unsigned(bytes, at + 1) << 8 | unsigned(bytes, at + 2);
            letters(json, three, 4);
            at += 3;
        }
        if (end - at == 2) {
            letters(json, unsigned(bytes, at) << 16 | unsigned(bytes, at + 1) << 8, 3);
            json.raw('=');
        } else if (end - at == 1) {
            letters(json, unsigned(bytes, at) << 16, 2);
            json.raw("==");
        }
    }

    private static int unsigned(MemorySegment bytes, long at) {
        return Byte.toUnsignedInt(bytes.get(JAVA_BYTE, at));
    }

    private static void letters(JsonWriter json, int bits, int count) {
        for (int i = 0; i < count; i++) {
            json.raw((char) ALPHABET[bits >> (18 - 6 * i) & 63]);
        }
    }
}
