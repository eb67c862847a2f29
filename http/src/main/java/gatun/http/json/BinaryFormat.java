// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import java.math.BigInteger;

/**
 * Rounds decimal numbers to a binary floating-point format, as Daniel Lemire describes in "Number Parsing at a Gigabyte
 * per Second": the digits times a power of five, of which 128 bits are known, decide nearly always. Immutable and safe
 * for any thread. A record, because the compiler takes the components of a constant record for constants.
 *
 * @param mantissaBits bits of the mantissa that are stored
 * @param exponentMask the exponent of infinity, all bits set
 * @param bias added to an exponent before it is stored
 * @param tiePowerFrom the least power of ten with which a number can lie exactly between two neighbours
 * @param tiePowerTo the greatest such power
 * @param zeroBelow below this power of ten, 64-bit digits come out as zero
 */
record BinaryFormat(int mantissaBits, int exponentMask, int bias, int tiePowerFrom, int tiePowerTo, int zeroBelow) {
    /** 32 bits. */
    static final BinaryFormat FLOAT = of(23, 8, -17, 10, -64);

    /** 64 bits. */
    static final BinaryFormat DOUBLE = of(52, 11, -4, 23, -342);

    /** The result of {@link #round} when 128 bits do not decide. */
    static final long UNDECIDED = -1;

    /** The greatest power of ten of which {@link PowersOfFive} knows; above it 64-bit digits come out as infinity. */
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
        // Bits below the mantissa and its two rounding bits. Only if all are set could the lower half of the power
        // matter.
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

    /** The exponent of two for ten to the power {@code power} as a 64-bit mantissa, its point after the first bit. */
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
