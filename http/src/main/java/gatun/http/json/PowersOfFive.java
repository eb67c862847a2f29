// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import java.math.BigInteger;

/**
 * The upper 128 bits of each power of five that a double can need. For negative powers, those of the reciprocal,
 * rounded up; for positive ones, cut off. Computed once, on first use. Safe for any thread.
 */
final class PowersOfFive {
    /** The least power; with 64-bit digits, anything below is zero as a double. */
    static final int FIRST = -342;

    /** The greatest power; anything above is infinite as a double. */
    static final int LAST = 308;

    private static final int PRECISION = 128;

    /** Upper and lower half of each power in turn. */
    private static final long[] HALVES = new long[2 * (LAST - FIRST + 1)];

    static {
        for (int power = FIRST; power <= LAST; power++) {
            BigInteger bits =
                    power < 0 ? reciprocal(-power) : cut(BigInteger.valueOf(5).pow(power));
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
