// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Writes floating-point numbers as C's {@code %g} does, with six significant digits where those read as the same
 * number, else as many as needed. For one thread; makes no garbage but for doubles of more than six digits.
 */
public final class GeneralDecimal {
    private static final int FEW_DIGITS = 6;
    private static final int FLOAT_DIGITS = 9;
    private static final int DOUBLE_DIGITS = 17;
    /** From this power of ten down, numbers are written with an exponent. */
    private static final int LEAST_PLAIN_POWER = -4;

    private static final long[] TENS = new long[19];

    static {
        TENS[0] = 1;
        for (int i = 1; i < TENS.length; i++) {
            TENS[i] = 10 * TENS[i - 1];
        }
    }

    private final ShortestDecimal shortest = new ShortestDecimal();
    private long digits;
    private int exponent;

    /** One for a reader of numbers, which uses it again and again. */
    public GeneralDecimal() {}

    /** Writes a float with a fraction or an exponent; {@code NaN} and infinities as names without quotes. */
    public void write(JsonWriter json, float value) {
        float magnitude = sign(json, value);
        if (isPlain(json, magnitude)) {
            return;
        }
        shortest.of(magnitude);
        round(FEW_DIGITS, magnitude);
        if (readsAs(magnitude)) {
            write(json, FEW_DIGITS);
            return;
        }
        round(FLOAT_DIGITS, magnitude);
        write(json, FLOAT_DIGITS);
    }

    /** Writes a double, as {@link #write(JsonWriter, float)} does. */
    public void write(JsonWriter json, double value) {
        double magnitude = sign(json, value);
        if (isPlain(json, magnitude)) {
            return;
        }
        if (magnitude < Double.MIN_NORMAL) {
            // So few of its bits are left that fewer than six digits may read as it.
            exactly(FEW_DIGITS, magnitude);
            if (Double.parseDouble(digits + "e" + exponent) == magnitude) {
                write(json, FEW_DIGITS);
                return;
            }
        } else {
            shortest.of(magnitude);
            if (shortest.digits() < TENS[FEW_DIGITS]) {
                round(FEW_DIGITS, magnitude);
                write(json, FEW_DIGITS);
                return;
            }
        }
        // The digits behind the shortest that read as this number are not zeros.
        exactly(DOUBLE_DIGITS, magnitude);
        write(json, DOUBLE_DIGITS);
    }

    private static float sign(JsonWriter json, float value) {
        return (float) sign(json, (double) value);
    }

    private static double sign(JsonWriter json, double value) {
        if (Double.doubleToRawLongBits(value) < 0 && !Double.isNaN(value)) {
            json.raw('-');
        }
        return Math.abs(value);
    }

    /** Writes a number that needs no digits; false for any other. */
    private static boolean isPlain(JsonWriter json, double magnitude) {
        if (magnitude > 0 && magnitude < Double.POSITIVE_INFINITY) {
            return false;
        }
        json.raw(magnitude == 0 ? "0.0" : Double.isNaN(magnitude) ? "NaN" : "Infinity");
        return true;
    }

    /** Takes the first {@code count} digits of the shortest form, rounded. */
    private void round(int count, double magnitude) {
        digits = shortest.digits();
        exponent = shortest.exponent();
        int surplus = digitCount(digits) - count;
        if (surplus <= 0) {
            return;
        }
        long unit = TENS[surplus];
        long cut = digits % unit;
        if (2 * cut == unit) {
            // The shortest form lies halfway; which side the number itself is on, only all of its digits tell.
            exactly(count, magnitude);
            return;
        }
        digits = digits / unit + (2 * cut > unit ? 1 : 0);
        exponent += surplus;
        trim();
    }

    /** Takes the first {@code count} of all digits, rounded; halves to the even digit. */
    private void exactly(int count, double magnitude) {
        BigDecimal rounded = new BigDecimal(magnitude).round(new MathContext(count, RoundingMode.HALF_EVEN));
        digits = rounded.unscaledValue().longValueExact();
        exponent = -rounded.scale();
        trim();
    }

    private void trim() {
        while (digits % 10 == 0) {
            digits /= 10;
            exponent++;
        }
    }

    private boolean readsAs(float magnitude) {
        long bits = BinaryFormat.FLOAT.round(digits, exponent);
        int found = bits == BinaryFormat.UNDECIDED
                ? Float.floatToRawIntBits(Float.parseFloat(digits + "e" + exponent))
                : (int) bits;
        return found == Float.floatToRawIntBits(magnitude);
    }

    private void write(JsonWriter json, int precision) {
        int count = digitCount(digits);
        int power = count + exponent - 1;
        if (power < LEAST_PLAIN_POWER || power >= precision) {
            point(json, count - 1);
            json.raw(power < 0 ? "e-" : "e+");
            int magnitude = Math.abs(power);
            if (magnitude < 10) {
                json.raw('0');
            }
            json.unsigned(magnitude);
        } else if (exponent >= 0) {
            json.unsigned(digits * TENS[exponent]).raw(".0");
        } else if (power >= 0) {
            point(json, -exponent);
        } else {
            json.raw("0.");
            zeros(json, -power - 1);
            json.unsigned(digits);
        }
    }

    /** Writes the digits, the last {@code fraction} of them behind a point. */
    private void point(JsonWriter json, int fraction) {
        if (fraction == 0) {
            json.unsigned(digits);
            return;
        }
        long unit = TENS[fraction];
        long behind = digits % unit;
        json.unsigned(digits / unit).raw('.');
        zeros(json, fraction - digitCount(behind));
        json.unsigned(behind);
    }

    private static void zeros(JsonWriter json, int count) {
        for (int i = 0; i < count; i++) {
            json.raw('0');
        }
    }

    private static int digitCount(long value) {
        int count = 1;
        while (count < TENS.length && value >= TENS[count]) {
            count++;
        }
        return count;
    }

    /**
     * Rounds decimals to a binary format, as Daniel Lemire describes in "Number Parsing at a Gigabyte per Second": the
     * digits times a power of five, of which 128 bits are known, decide nearly always. Thread-safe. A record, as the
     * compiler takes components of constant records for constants. Ties have powers of ten from {@code tiePowerFrom} to
     * {@code tiePowerTo}; below {@code zeroBelow}, 64-bit digits come out as zero.
     */
    record BinaryFormat(int mantissaBits, int exponentMask, int bias, int tiePowerFrom, int tiePowerTo, int zeroBelow) {
        static final BinaryFormat FLOAT = of(23, 8, -17, 10, -64);
        static final BinaryFormat DOUBLE = of(52, 11, -4, 23, -342);

        /** The result of {@link #round} when 128 bits do not decide. */
        static final long UNDECIDED = -1;

        /** The greatest power of ten that {@link PowersOfFive} has; above it 64-bit digits come out as infinity. */
        private static final int INFINITE_ABOVE = PowersOfFive.LAST;

        private static BinaryFormat of(
                int mantissaBits, int exponentBits, int tiePowerFrom, int tiePowerTo, int zeroBelow) {
            int exponentMask = (1 << exponentBits) - 1;
            return new BinaryFormat(
                    mantissaBits, exponentMask, (1 << (exponentBits - 1)) - 1, tiePowerFrom, tiePowerTo, zeroBelow);
        }

        /** The bits nearest to {@code digits} times ten to the {@code power}, ties to even; or {@link #UNDECIDED}. */
        long round(long digits, int power) {
            if (digits == 0 || power < zeroBelow) {
                return 0;
            }
            if (power > INFINITE_ABOVE) {
                return infinity();
            }
            int leadingZeros = Long.numberOfLeadingZeros(digits);
            long normal = digits << leadingZeros;
            long five = PowersOfFive.upper(power);
            long high = Math.unsignedMultiplyHigh(normal, five);
            long low = normal * five;
            // Bits below mantissa and rounding bits. Only if all are set could the lower half of the power matter.
            long undecidedBits = -1L >>> (mantissaBits + 3);
            if ((high & undecidedBits) == undecidedBits) {
                long carry = Math.unsignedMultiplyHigh(normal, PowersOfFive.lower(power));
                low += carry;
                if (Long.compareUnsigned(low, carry) < 0) {
                    high++;
                }
            }
            if (low == -1L && (power < -27 || power > 55)) {
                return UNDECIDED;
            }
            int upperBit = (int) (high >>> 63);
            int shift = upperBit + 64 - mantissaBits - 3;
            long mantissa = high >>> shift;
            int exponent = binaryExponent(power) + upperBit - leadingZeros + bias;
            if (exponent <= 0) {
                return subnormal(mantissa, exponent);
            }
            boolean tie = (low == 0 || low == 1)
                    && power >= tiePowerFrom
                    && power <= tiePowerTo
                    && (mantissa & 3) == 1
                    && mantissa << shift == high;
            if (tie) {
                // Exactly between two neighbours, the lower of them even: down.
                mantissa &= ~1L;
            }
            mantissa = (mantissa + (mantissa & 1)) >>> 1;
            if (mantissa >= 2L << mantissaBits) {
                mantissa = 1L << mantissaBits;
                exponent++;
            }
            if (exponent >= exponentMask) {
                return infinity();
            }
            return (mantissa & ((1L << mantissaBits) - 1)) | ((long) exponent << mantissaBits);
        }

        private long subnormal(long mantissa, int exponent) {
            if (1 - exponent >= Long.SIZE) {
                return 0;
            }
            long shifted = mantissa >>> (1 - exponent);
            // Rounding up to the least normal number sets the exponent's lowest bit by itself.
            return (shifted + (shifted & 1)) >>> 1;
        }

        private long infinity() {
            return (long) exponentMask << mantissaBits;
        }

        /** The exponent of two of ten to the {@code power} as a 64-bit mantissa, its point after the first bit. */
        private static int binaryExponent(int power) {
            // log2(10) in 16 bits of fraction is exact enough for all powers of the table.
            return (((152_170 + 65_536) * power) >> 16) + 63;
        }

        /** 128 bits of each power of five, or rounded up of its reciprocal. Computed once. Thread-safe. */
        static final class PowersOfFive {
            /** The least power; with 64-bit digits, anything below is zero as a double. */
            static final int FIRST = -342;

            /** The greatest power; anything above is infinite as a double. */
            static final int LAST = 308;

            private static final int PRECISION = 128;

            /** Upper and lower half of each power in turn. */
            private static final long[] HALVES = new long[2 * (LAST - FIRST + 1)];

            static {
                for (int power = FIRST; power <= LAST; power++) {
                    BigInteger bits = power < 0
                            ? reciprocal(-power)
                            : cut(BigInteger.valueOf(5).pow(power));
                    HALVES[2 * (power - FIRST)] = bits.shiftRight(64).longValue();
                    HALVES[2 * (power - FIRST) + 1] = bits.longValue();
                }
            }

            private PowersOfFive() {}

            /** Bits 127 to 64 of five to the power {@code power}; bit 127 is set. */
            static long upper(int power) {
                return HALVES[2 * (power - FIRST)];
            }

            /** Bits 63 to 0 of five to the power {@code power}. */
            static long lower(int power) {
                return HALVES[2 * (power - FIRST) + 1];
            }

            private static BigInteger reciprocal(int power) {
                BigInteger five = BigInteger.valueOf(5).pow(power);
                int magnitude = five.subtract(BigInteger.ONE).bitLength();
                // Small powers divide numbers that were written exactly: there the last bit of the reciprocal counts.
                int numeratorBits = power <= 27 ? magnitude + PRECISION - 1 : 2 * magnitude + PRECISION;
                return cut(BigInteger.ONE.shiftLeft(numeratorBits).divide(five).add(BigInteger.ONE));
            }

            private static BigInteger cut(BigInteger value) {
                return value.shiftRight(value.bitLength() - PRECISION);
            }
        }
    }
}
