// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Base64 in the standard alphabet, from and to native memory. Stateless. */
public final class Base64Text {
    private static final byte[] ALPHABET =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".getBytes(StandardCharsets.US_ASCII);
    private static final byte NONE = -1;
    private static final byte PADDING = -2;
    private static final byte BLANK = -3;

    /** Of each character the number it stands for, or which of the above it is. */
    private static final byte[] STRICT = new byte[128];

    /** The same as TensorFlow Serving reads it: blanks may stand anywhere, and a dot is padding too. */
    private static final byte[] LENIENT;

    static {
        Arrays.fill(STRICT, NONE);
        for (byte i = 0; i < ALPHABET.length; i++) {
            STRICT[ALPHABET[i]] = i;
        }
        STRICT['='] = PADDING;
        LENIENT = STRICT.clone();
        LENIENT['.'] = PADDING;
        for (char blank : " \t\n\u000b\f\r".toCharArray()) {
            LENIENT[blank] = BLANK;
        }
    }

    private Base64Text() {}

    /**
     * Replaces {@code byteSize} bytes of text at {@code offset} by the decoded ones, which are fewer; padding may be
     * missing. Returns their number, or {@code -1 - N} where byte N is wrong or the text ends too early.
     */
    public static long decode(MemorySegment segment, long offset, long byteSize) {
        return decode(segment, offset, byteSize, STRICT);
    }

    /** As {@link #decode}, of a text that may have blanks, such as the ends of lines, and dots for padding. */
    public static long decodeLenient(MemorySegment segment, long offset, long byteSize) {
        return decode(segment, offset, byteSize, LENIENT);
    }

    private static long decode(MemorySegment segment, long offset, long byteSize, byte[] values) {
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
                int value = c < 0 ? NONE : values[c];
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
                    return -1 - (at - offset);
                }
            }
        }
        long open = digits % 4;
        boolean complete = open != 1 && (padding == 0 || (open > 0 && open + padding == 4));
        return complete ? out - offset : -1 - byteSize;
    }

    /** Writes {@code byteSize} bytes at {@code offset} as text, without quotes. */
    public static void encode(JsonWriter json, MemorySegment bytes, long offset, long byteSize) {
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
