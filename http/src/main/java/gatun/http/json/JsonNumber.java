// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.http.json.GeneralDecimal.BinaryFormat;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** The last number of a {@link JsonReader} as digits and exponent, rounded on request. Not thread-safe. */
public final class JsonNumber {
    /** Decimal digits that always fit 64 bits. */
    private static final int SAFE_DIGITS = 19;

    /** No number whose 19 first digits have a greater power of ten is finite; none with a lesser one is above zero. */
    private static final int POWER_BOUND = 100_000;

    /** Far beyond what as many zeros as a text can have make up for; keeps exponents from overflowing. */
    private static final long EXPONENT_BOUND = 1L << 58;

    /** No double needs more digits to be told from its neighbours and from the middle between them. */
    private static final int DECISIVE_DIGITS = 800;

    /** The most characters of a number: nobody means more, and the rest is not looked at. */
    private static final int CHARACTER_LIMIT = 64 << 10;

    /** The most digits of a number that an error shows. */
    private static final int SHOWN_DIGITS = 40;

    private static final ValueLayout.OfLong EIGHT_BYTES =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final long UPPER_HALVES = 0xF0F0_F0F0_F0F0_F0F0L;
    private static final long ZEROS = 0x3030_3030_3030_3030L;
    private static final long[] TENS = {1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000};

    private enum Form {
        INTEGER,
        FRACTION,
        INFINITY,
        NOT_A_NUMBER
    }

    private MemorySegment json = MemorySegment.NULL;
    private long from;
    private long to;
    private Form form = Form.INTEGER;
    private boolean negative;
    /** The first significant digits, at most {@link #SAFE_DIGITS} of them. */
    private long digits;
    /** The number is {@code digits} times ten to this power, but for digits that were left out. */
    private int exponent;
    /** Whether digits were left out, all of lesser weight than those in {@link #digits}. */
    private boolean truncated;
    /** Whether an integer's magnitude fits 64 bits without a sign; it is then in {@link #digits}, at any length. */
    private boolean fits64;

    /** No number yet. */
    public JsonNumber() {}

    void readFrom(MemorySegment text) {
        json = text;
    }

    /** Reads the number at {@code position}; returns its end. Throws INVALID_ARGUMENT if none, too long or too big. */
    long scan(JsonCursor cursor, long position, long textEnd) {
        MemorySegment text = json;
        from = position;
        long at = position;
        long end = Math.min(textEnd, position + CHARACTER_LIMIT + 1);
        // The sign and a leading zero are as good as random: no branch is made of them.
        int sign = text.get(JAVA_BYTE, at) == '-' ? 1 : 0;
        negative = sign != 0;
        at += sign;
        int first = at < end ? text.get(JAVA_BYTE, at) - '0' : -1;
        if (first < 0 || first > 9) {
            return scanWord(cursor, text, at, textEnd);
        }
        exponent = 0;
        truncated = false;
        long digitsFrom = at;
        long value = 0;
        // One by one, since mostly there is one digit: its end is guessed rightly, where takeDigits must wait.
        while (at < end) {
            int digit = text.get(JAVA_BYTE, at) - '0';
            if (digit < 0 || digit > 9) {
                break;
            }
            value = value * 10 + digit;
            at++;
        }
        digits = value;
        if (at > digitsFrom + 1 && first == 0) {
            // Digits after a leading zero are not part of the number.
            at = digitsFrom + 1;
            digits = 0;
        }
        requireBefore(at, end, textEnd, cursor);
        byte next = at < end ? text.get(JAVA_BYTE, at) : 0;
        long integerDigits = at - digitsFrom;
        if (next != '.' && next != 'e' && next != 'E') {
            become(Form.INTEGER);
            to = at;
            fits64 = integerDigits <= SAFE_DIGITS || fitsUnsigned(integerDigits);
            if (!fits64) {
                form = Form.FRACTION;
                gatherLongDigits(digitsFrom);
                checkFinite(cursor);
            }
            return at;
        }
        become(Form.FRACTION);
        long fractionDigits = 0;
        if (next == '.') {
            long fractionFrom = ++at;
            at = takeDigits(text, at, end);
            requireBefore(at, end, textEnd, cursor);
            fractionDigits = at - fractionFrom;
            if (fractionDigits == 0) {
                throw cursor.syntax("Miss fraction part in number.", at);
            }
            next = at < end ? text.get(JAVA_BYTE, at) : 0;
        }
        long written = 0;
        if (next == 'e' || next == 'E') {
            at++;
            byte exponentSign = at < end ? text.get(JAVA_BYTE, at) : 0;
            boolean below = exponentSign == '-';
            if (below || exponentSign == '+') {
                at++;
            }
            long exponentFrom = at;
            while (at < end) {
                int digit = text.get(JAVA_BYTE, at) - '0';
                if (digit < 0 || digit > 9) {
                    break;
                }
                written = Math.min(written * 10 + digit, EXPONENT_BOUND);
                at++;
            }
            requireBefore(at, end, textEnd, cursor);
            if (at == exponentFrom) {
                throw cursor.syntax("Miss exponent in number.", at);
            }
            written = below ? -written : written;
        }
        to = at;
        if (integerDigits + fractionDigits <= SAFE_DIGITS) {
            exponent = power(written - fractionDigits);
        } else {
            gatherLongDigits(digitsFrom);
            exponent = power(written + exponent);
        }
        checkFinite(cursor);
        return at;
    }

    private void requireBefore(long at, long end, long textEnd, JsonCursor cursor) {
        if (at == end && end < textEnd) {
            throw cursor.syntax("Number of more than " + CHARACTER_LIMIT + " characters.", from);
        }
    }

    private static int power(long exponent) {
        return Math.clamp(exponent, -POWER_BOUND, POWER_BOUND);
    }

    /** Stores only what changes: the collector makes each store of a reference dear. */
    private void become(Form read) {
        if (form != read) {
            form = read;
        }
    }

    /** Whether it is written as an integer from 0 to 2^64 - 1. */
    public boolean fitsUnsigned64() {
        return form == Form.INTEGER && (!negative || digits == 0);
    }

    /** Whether it is written as an integer from -2^63 to 2^63 - 1. */
    public boolean fitsSigned64() {
        return form == Form.INTEGER && (digits >= 0 || (negative && digits == Long.MIN_VALUE));
    }

    /** Whether it is written in digits, and not as a word for infinity or for no number. */
    public boolean isFinite() {
        return form == Form.INTEGER || form == Form.FRACTION;
    }

    /** How it is written, cut where it is long. */
    public String shown() {
        int length = (int) Math.min(to - from, SHOWN_DIGITS);
        byte[] bytes = json.asSlice(from, length).toArray(JAVA_BYTE);
        return new String(bytes, StandardCharsets.US_ASCII) + (length < to - from ? "..." : "");
    }

    /** The value in the bits of a long, where {@link #fitsUnsigned64} or {@link #fitsSigned64} holds. */
    public long integerBits() {
        return negative ? -digits : digits;
    }

    /** The nearest double; of two equally near ones that with an even last bit. */
    public double toDouble() {
        double magnitude =
                switch (form) {
                    case INTEGER -> digits >= 0 && digits < 1L << 53 ? digits : decimalToDouble();
                    case FRACTION -> decimalToDouble();
                    case INFINITY -> Double.POSITIVE_INFINITY;
                    case NOT_A_NUMBER -> Double.NaN;
                };
        return negative ? -magnitude : magnitude;
    }

    /** The nearest float, found from the decimal digits and not by way of a double, which would round twice. */
    public float toFloat() {
        int bits =
                switch (form) {
                    case INTEGER ->
                        digits >= 0 && digits < 1L << 24
                                ? Float.floatToRawIntBits((float) digits)
                                : decimalToFloatBits();
                    case FRACTION -> decimalToFloatBits();
                    case INFINITY -> Float.floatToRawIntBits(Float.POSITIVE_INFINITY);
                    case NOT_A_NUMBER -> Float.floatToRawIntBits(Float.NaN);
                };
        // Every other number has a minus, so no branch is made of it.
        return Float.intBitsToFloat(bits | (negative ? Integer.MIN_VALUE : 0));
    }

    private double decimalToDouble() {
        long bits = BinaryFormat.DOUBLE.round(digits, exponent);
        if (bits == BinaryFormat.UNDECIDED || (truncated && bits != BinaryFormat.DOUBLE.round(digits + 1, exponent))) {
            return Double.parseDouble(magnitudeText());
        }
        return Double.longBitsToDouble(bits);
    }

    private int decimalToFloatBits() {
        long bits = BinaryFormat.FLOAT.round(digits, exponent);
        if (bits == BinaryFormat.UNDECIDED || (truncated && bits != BinaryFormat.FLOAT.round(digits + 1, exponent))) {
            return Float.floatToRawIntBits(Float.parseFloat(magnitudeText()));
        }
        return (int) bits;
    }

    /** The magnitude in no more digits than decide: behind them, a 1 stands for all that are not zero. */
    private String magnitudeText() {
        StringBuilder text = new StringBuilder();
        int leftOut = 0;
        boolean rest = false;
        for (long at = negative ? from + 1 : from; at < to; at++) {
            byte c = json.get(JAVA_BYTE, at);
            if (c == 'e' || c == 'E') {
                break;
            }
            if (c == '.' || (text.isEmpty() && c == '0')) {
                continue;
            }
            if (text.length() < DECISIVE_DIGITS) {
                text.append((char) c);
            } else {
                leftOut++;
                rest |= c != '0';
            }
        }
        // The exponent is that of the last digit taken: all of an integer's, else no more than are safe.
        int untaken = form == Form.INTEGER ? 0 : Math.max(0, text.length() + leftOut - SAFE_DIGITS);
        int power = exponent - untaken + leftOut;
        if (rest) {
            text.append('1');
            power--;
        }
        return text.append('e').append(power).toString();
    }

    private void checkFinite(JsonCursor cursor) {
        // Only numbers of at least 1e290 need the closer look.
        if (exponent > 290 - SAFE_DIGITS && Double.isInfinite(decimalToDouble())) {
            throw cursor.syntax("Number too big to be stored in double.", from);
        }
    }

    /** Takes the digits again, now from the first that is not zero and no more than fit; sets the exponent for them. */
    private void gatherLongDigits(long digitsFrom) {
        long value = 0;
        int taken = 0;
        int power = 0;
        boolean fraction = false;
        truncated = false;
        for (long at = digitsFrom; at < to; at++) {
            int digit = json.get(JAVA_BYTE, at) - '0';
            if (digit == '.' - '0') {
                fraction = true;
            } else if (digit < 0 || digit > 9) {
                break;
            } else if (taken < SAFE_DIGITS) {
                value = value * 10 + digit;
                taken += value == 0 ? 0 : 1;
                power -= fraction ? 1 : 0;
            } else {
                truncated |= digit != 0;
                power += fraction ? 0 : 1;
            }
        }
        digits = value;
        exponent = power;
    }

    /** Whether {@link #digits}, made of {@code digitCount} digits, is what they say, and did not run over 64 bits. */
    private boolean fitsUnsigned(long digitCount) {
        // Twenty digits run over at most once if they begin with 1, and then come out smaller than 10^19.
        return digitCount == SAFE_DIGITS + 1
                && json.get(JAVA_BYTE, negative ? from + 1 : from) == '1'
                && Long.compareUnsigned(digits, 0x8AC7_2304_89E8_0000L) >= 0;
    }

    private long scanWord(JsonCursor cursor, MemorySegment text, long at, long end) {
        digits = 0;
        exponent = 0;
        truncated = false;
        byte first = at < end ? text.get(JAVA_BYTE, at) : 0;
        if (first == 'N') {
            form = Form.NOT_A_NUMBER;
            to = cursor.literal("NaN", text, at, end);
            return to;
        }
        if (first != 'I') {
            throw cursor.syntax("Invalid value.", at);
        }
        form = Form.INFINITY;
        to = cursor.literal("Inf", text, at, end);
        if (to < end && text.get(JAVA_BYTE, to) == 'i') {
            to = cursor.literal("inity", text, to, end);
        }
        return to;
    }

    /** Appends the digits at {@code at} to {@link #digits}, eight in one step. Returns where they end. */
    private long takeDigits(MemorySegment text, long position, long end) {
        long value = digits;
        long at = position;
        while (end - at >= Long.BYTES) {
            long eight = text.get(EIGHT_BYTES, at);
            int count = digitCount(eight);
            if (count < Long.BYTES) {
                // Zeros move in before the digits, and what is no digit moves out behind them.
                digits = value * TENS[count] + eightDigits(eight << (Long.SIZE - Byte.SIZE * (count + 1)) << Byte.SIZE);
                return at + count;
            }
            value = value * 100_000_000 + eightDigits(eight);
            at += Long.BYTES;
        }
        while (at < end) {
            int digit = text.get(JAVA_BYTE, at) - '0';
            if (digit < 0 || digit > 9) {
                break;
            }
            value = value * 10 + digit;
            at++;
        }
        digits = value;
        return at;
    }

    /** How many of eight bytes are digits until the first that is none; the first byte is the lowest. */
    private static int digitCount(long eight) {
        long offsets = eight ^ ZEROS;
        // The highest bit of a byte is set where it is above 9. A carry reaches only bytes behind one that is no digit.
        long others = (offsets | (offsets + 0x7676_7676_7676_7676L)) & 0x8080_8080_8080_8080L;
        return Long.numberOfTrailingZeros(others) / Byte.SIZE;
    }

    /** The value of eight digits in a row, the first in the lowest byte: neighbours are joined three times over. */
    private static long eightDigits(long eight) {
        long pairs = ((eight & ~UPPER_HALVES) * ((10 << 8) | 1)) >>> 8;
        long fours = ((pairs & 0x00FF_00FF_00FF_00FFL) * ((100 << 16) | 1)) >>> 16;
        return ((fours & 0x0000_FFFF_0000_FFFFL) * ((10_000L << 32) | 1)) >>> 32;
    }
}
