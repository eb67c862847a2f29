// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Writes compact JSON into an array that is used again; callers write braces, commas and names. Makes no garbage while
 * its text fits. Any length goes by a window of {@link #WINDOW} bytes to an {@link Overflow}, if any. For one thread.
 */
public final class JsonWriter {
    /** The most bytes that are kept at a time of a text that overflows. */
    public static final int WINDOW = 16 * 1024;

    /** A larger writer drops its array when it is cleared, so that idle connections keep no more. */
    private static final int KEPT_BYTES = 8 * 1024;

    /** The bytes of a string that are written in one step; each may become six. */
    private static final int STRING_STEP = 1024;

    private static final int INITIAL_BYTES = 1024;
    private static final byte[] HEX = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LEAST_LONG = "-9223372036854775808".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TRUE = {'t', 'r', 'u', 'e'};
    private static final byte[] FALSE = {'f', 'a', 'l', 's', 'e'};
    private static final byte[] NAN = {'N', 'a', 'N'};
    private static final byte[] INFINITY = "Infinity".getBytes(StandardCharsets.US_ASCII);
    private static final int LONGEST_LONG = 20;
    private static final int LONGEST_DOUBLE = 26;

    private final ShortestDecimal decimal = new ShortestDecimal();

    private byte[] bytes = new byte[INITIAL_BYTES];
    private int size;
    private long overflown;
    private @Nullable Overflow overflow;

    /** Takes the text that fills the window. */
    @FunctionalInterface
    public interface Overflow {
        /** Takes all bytes that {@code text} holds; they are gone afterwards. */
        void take(JsonWriter text);
    }

    /** An empty writer. */
    public JsonWriter() {}

    /** Begins a new text, all of which is kept. */
    public void clear() {
        size = 0;
        overflown = 0;
        overflow = null;
        if (bytes.length > KEPT_BYTES) {
            bytes = new byte[INITIAL_BYTES];
        }
    }

    /** Sends each full window to {@code target} from now on, until {@link #clear}. The caller takes the rest. */
    public JsonWriter overflowTo(Overflow target) {
        overflow = target;
        return this;
    }

    /** Bytes of the text so far, including those that have overflown. */
    public long total() {
        return overflown + size;
    }

    /** The text so far, at the start of this array; valid until something else is written. */
    public byte[] array() {
        return bytes;
    }

    /** Bytes in that array. */
    public int size() {
        return size;
    }

    /** Takes back the last byte, which is the last that was written. */
    public void dropLast() {
        size--;
    }

    /** Writes ASCII as it is. */
    @SuppressWarnings("deprecation") // getBytes(int, ...) copies ASCII without an array in between
    public JsonWriter raw(String ascii) {
        int length = ascii.length();
        room(length);
        ascii.getBytes(0, length, bytes, size);
        size += length;
        return this;
    }

    /** Writes the first {@code length} of {@code source} as they are. */
    public JsonWriter raw(byte[] source, int length) {
        for (int at = 0; at < length; ) {
            int step = step(length - at);
            System.arraycopy(source, at, bytes, size, step);
            size += step;
            at += step;
        }
        return this;
    }

    /** Writes the bytes of {@code source} as they are. */
    public JsonWriter raw(MemorySegment source) {
        long length = source.byteSize();
        for (long at = 0; at < length; ) {
            int step = step(length - at);
            MemorySegment.copy(source, JAVA_BYTE, at, bytes, size, step);
            size += step;
            at += step;
        }
        return this;
    }

    /** Makes room for the next of {@code rest} bytes, and returns for how many. */
    private int step(long rest) {
        long wanted = overflow == null ? rest : Math.min(rest, WINDOW);
        room(wanted);
        return (int) wanted;
    }

    /** Writes one ASCII character as it is. */
    public JsonWriter raw(char ascii) {
        room(1);
        bytes[size++] = (byte) ascii;
        return this;
    }

    /** Writes a string in quotes. */
    public JsonWriter string(String text) {
        raw('"');
        int length = text.length();
        for (int from = 0; from < length; ) {
            int to = Math.min(length, from + STRING_STEP);
            if (to < length && Character.isHighSurrogate(text.charAt(to - 1))) {
                to--;
            }
            part(text, from, to);
            from = to;
        }
        return raw('"');
    }

    private void part(String text, int from, int to) {
        // Six bytes for an escape are the most that one char can become.
        room(6L * (to - from));
        for (int i = from; i < to; i++) {
            char c = text.charAt(i);
            if (c >= 0x80) {
                byte[] rest = text.substring(i, to).getBytes(StandardCharsets.UTF_8);
                for (byte b : rest) {
                    escaped(b);
                }
                break;
            }
            escaped((byte) c);
        }
    }

    /** Writes {@code byteSize} bytes of {@code text} as a string in quotes; they need not be UTF-8. */
    public JsonWriter string(MemorySegment text, long offset, long byteSize) {
        raw('"');
        for (long from = 0; from < byteSize; from += STRING_STEP) {
            long to = Math.min(byteSize, from + STRING_STEP);
            room(6 * (to - from));
            for (long i = from; i < to; i++) {
                escaped(text.get(JAVA_BYTE, offset + i));
            }
        }
        return raw('"');
    }

    /** Writes true or false. */
    public JsonWriter bool(boolean value) {
        return raw(value ? TRUE : FALSE);
    }

    /** Writes a signed integer. */
    public JsonWriter signed(long value) {
        if (value >= 0) {
            return unsigned(value);
        }
        if (value == Long.MIN_VALUE) {
            return raw(LEAST_LONG);
        }
        raw('-');
        return unsigned(-value);
    }

    /** Writes an integer whose 64 bits have no sign. */
    public JsonWriter unsigned(long value) {
        room(LONGEST_LONG);
        if (value < 0) {
            long quotient = Long.divideUnsigned(value, 10);
            digits(quotient);
            bytes[size++] = (byte) ('0' + (value - quotient * 10));
        } else {
            digits(value);
        }
        return this;
    }

    /**
     * Writes the shortest decimal that reads as the same double: with a fraction, at least {@code .0}, from 1e-6 up to
     * below 1e21, with an exponent otherwise; {@code NaN}, {@code Infinity} and {@code -Infinity} without quotes.
     */
    public JsonWriter fp64(double value) {
        if (Double.isNaN(value)) {
            return raw(NAN);
        }
        if (Double.doubleToRawLongBits(value) < 0) {
            raw('-');
        }
        double magnitude = Math.abs(value);
        if (Double.isInfinite(magnitude)) {
            return raw(INFINITY);
        }
        room(LONGEST_DOUBLE);
        long whole = (long) magnitude;
        if (whole == magnitude && whole < 1L << 53) {
            digits(whole);
            bytes[size++] = '.';
            bytes[size++] = '0';
            return this;
        }
        decimal.of(magnitude);
        decimal(decimal.digits(), decimal.exponent());
        return this;
    }

    /** Writes {@code digits} times ten to the power {@code exponent}; the last of the digits is not 0. */
    private void decimal(long digits, int exponent) {
        int count = digitCount(digits);
        // Where the decimal point stands, counted from before the first digit.
        int point = count + exponent;
        if (point > 21 || point < -5) {
            int mantissaFrom = size;
            digits(digits);
            if (count > 1) {
                System.arraycopy(bytes, mantissaFrom + 1, bytes, mantissaFrom + 2, count - 1);
                bytes[mantissaFrom + 1] = '.';
                size++;
            }
            bytes[size++] = 'e';
            int power = point - 1;
            if (power < 0) {
                bytes[size++] = '-';
            }
            digits(Math.abs(power));
        } else if (point <= 0) {
            bytes[size++] = '0';
            bytes[size++] = '.';
            zeros(-point);
            digits(digits);
        } else if (exponent >= 0) {
            digits(digits);
            zeros(exponent);
            bytes[size++] = '.';
            bytes[size++] = '0';
        } else {
            int from = size;
            digits(digits);
            System.arraycopy(bytes, from + point, bytes, from + point + 1, count - point);
            bytes[from + point] = '.';
            size++;
        }
    }

    private void zeros(int count) {
        for (int i = 0; i < count; i++) {
            bytes[size++] = '0';
        }
    }

    private void digits(long value) {
        int count = digitCount(value);
        int at = size + count;
        size = at;
        long rest = value;
        // Division of ints is several times cheaper.
        while (rest > Integer.MAX_VALUE) {
            long quotient = rest / 10;
            bytes[--at] = (byte) ('0' + (rest - quotient * 10));
            rest = quotient;
        }
        int low = (int) rest;
        do {
            int quotient = low / 10;
            bytes[--at] = (byte) ('0' + (low - quotient * 10));
            low = quotient;
        } while (low != 0);
    }

    private static int digitCount(long value) {
        int count = 1;
        long bound = 10;
        while (count < 19 && value >= bound) {
            bound *= 10;
            count++;
        }
        return count;
    }

    /** Writes one byte of a string; there is room for six. */
    private void escaped(byte b) {
        if (b == '"' || b == '\\') {
            bytes[size++] = '\\';
            bytes[size++] = b;
        } else if (b < 0 || b >= ' ') {
            bytes[size++] = b;
        } else {
            bytes[size++] = '\\';
            switch (b) {
                case '\b' -> bytes[size++] = 'b';
                case '\f' -> bytes[size++] = 'f';
                case '\n' -> bytes[size++] = 'n';
                case '\r' -> bytes[size++] = 'r';
                case '\t' -> bytes[size++] = 't';
                default -> {
                    bytes[size++] = 'u';
                    bytes[size++] = '0';
                    bytes[size++] = '0';
                    bytes[size++] = HEX[b >> 4];
                    bytes[size++] = HEX[b & 15];
                }
            }
        }
    }

    private JsonWriter raw(byte[] text) {
        return raw(text, text.length);
    }

    private void room(long more) {
        long needed = size + more;
        if (needed > bytes.length) {
            grow(more);
        }
    }

    private void grow(long more) {
        if (overflow != null && size + more > WINDOW) {
            overflow.take(this);
            long before = overflown;
            overflown += size;
            size = 0;
            if (before / CooperativeYield.STEP != overflown / CooperativeYield.STEP) {
                CooperativeYield.now();
            }
        }
        long needed = size + more;
        if (needed <= bytes.length) {
            return;
        }
        // The greatest array that all virtual machines make.
        long limit = Integer.MAX_VALUE - 8;
        if (needed > limit) {
            throw GatunException.invalidArgument("the answer takes more than " + limit
                    + " bytes as JSON; ask for binary outputs by the parameter 'binary_data'");
        }
        long roomy = 2L * bytes.length;
        if (overflow != null) {
            roomy = Math.min(roomy, WINDOW);
        }
        bytes = Arrays.copyOf(bytes, (int) Math.min(limit, Math.max(needed, roomy)));
    }
}
