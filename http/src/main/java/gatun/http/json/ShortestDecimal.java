// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.math.BigInteger;

/**
 * Finds the shortest, nearest decimal that reads as a double, as in Raffaello Giulietti's "The Schubfach way to render
 * doubles". For one thread; makes no garbage, but for the first use of a power of ten in the process.
 */
final class ShortestDecimal {
    private static final int MANTISSA_BITS = 52;
    private static final long HIDDEN_BIT = 1L << MANTISSA_BITS;
    /** The binary exponent of the least double, whose mantissa is an integer. */
    private static final int LEAST_EXPONENT = -1074;

    private static final int FIRST_POWER = -292;
    private static final int LAST_POWER = 324;
    private static final long LOW_63 = Long.MAX_VALUE;

    /** 126 bits of each power of ten, rounded up, in two parts; 0 until needed, the upper written last. */
    private static final long[] POWERS_OF_TEN = new long[2 * (LAST_POWER - FIRST_POWER + 1)];

    private static final VarHandle PART = MethodHandles.arrayElementVarHandle(long[].class);

    private long digits;
    private int exponent;

    /** The digits, without zeros at the end. */
    long digits() {
        return digits;
    }

    int exponent() {
        return exponent;
    }

    /** Finds digits and exponent of {@code value}, which is finite and above zero. */
    void of(double value) {
        long bits = Double.doubleToRawLongBits(value);
        int biased = (int) (bits >>> MANTISSA_BITS);
        long fraction = bits & (HIDDEN_BIT - 1);
        // value = mantissa * 2^binary
        long mantissa = biased == 0 ? fraction : fraction | HIDDEN_BIT;
        int binary = LEAST_EXPONENT + Math.max(biased - 1, 0);
        // The neighbour below a power of two is only half as far away as the one above.
        boolean uneven = fraction == 0 && biased > 1;

        int power = uneven ? floorLog10ThreeQuarters(binary) : floorLog10(binary);
        int shift = binary + floorLog2OfTen(-power) + 2;
        int place = 2 * (-power - FIRST_POWER);
        long upper = (long) PART.getAcquire(POWERS_OF_TEN, place);
        if (upper == 0) {
            upper = find(-power, place);
        }
        long lower = POWERS_OF_TEN[place + 1];

        // All in quarters of a decimal unit: the value, and the two ends of what reads as it.
        long middle = mantissa << 2;
        long scaled = scale(upper, lower, middle << shift);
        long lowEnd = scale(upper, lower, (middle - (uneven ? 1 : 2)) << shift);
        long highEnd = scale(upper, lower, (middle + 2) << shift);
        // An even mantissa wins ties, so its ends belong to it.
        long outside = mantissa & 1;
        lowEnd += outside;
        highEnd -= outside;

        long unit = scaled >> 2;
        long ten = unit / 10 * 10;
        boolean tenBelow = lowEnd <= (ten << 2);
        boolean tenAbove = ((ten + 10) << 2) <= highEnd;
        if (unit >= 10 && tenBelow != tenAbove) {
            trimmed(tenBelow ? ten : ten + 10, power);
            return;
        }
        boolean below = lowEnd <= (unit << 2);
        boolean above = ((unit + 1) << 2) <= highEnd;
        boolean down;
        if (below != above) {
            down = below;
        } else {
            long beyondHalf = scaled - ((unit + unit + 1) << 1);
            down = beyondHalf < 0 || (beyondHalf == 0 && (unit & 1) == 0);
        }
        trimmed(down ? unit : unit + 1, power);
    }

    private void trimmed(long value, int power) {
        digits = value;
        exponent = power;
        while (digits % 10 == 0) {
            digits /= 10;
            exponent++;
        }
    }

    /** The upper 63 bits of a 126-bit power of ten times {@code factor}; cut-off bits set the last. */
    private static long scale(long upper, long lower, long factor) {
        long lowHigh = Math.multiplyHigh(lower, factor);
        long highLow = upper * factor;
        long middle = (highLow >>> 1) + lowHigh;
        long high = Math.multiplyHigh(upper, factor) + (middle >>> 63);
        return high | (((middle & LOW_63) + LOW_63) >>> 63);
    }

    /** Any number of threads may find the same. */
    private static long find(int power, int place) {
        BigInteger bits = first126Bits(power);
        long upper = bits.shiftRight(63).longValue();
        POWERS_OF_TEN[place + 1] = bits.longValue() & LOW_63;
        PART.setRelease(POWERS_OF_TEN, place, upper);
        return upper;
    }

    private static BigInteger first126Bits(int power) {
        BigInteger ten = BigInteger.TEN.pow(Math.abs(power));
        // 10^power = bits * 2^-scale, where bits has 126 binary digits.
        int scale = 125 - floorLog2OfTen(power);
        BigInteger bits;
        if (power >= 0) {
            bits = scale >= 0 ? ten.shiftLeft(scale) : ten.shiftRight(-scale);
        } else {
            bits = BigInteger.ONE.shiftLeft(scale).divide(ten);
        }
        return bits.add(BigInteger.ONE);
    }

    /** The integer part, rounded down, of log10(2^e). */
    private static int floorLog10(int e) {
        return (int) ((e * 661_971_961_083L) >> 41);
    }

    /** The integer part, rounded down, of log10(3/4 * 2^e). */
    private static int floorLog10ThreeQuarters(int e) {
        return (int) ((e * 661_971_961_083L - 274_743_187_321L) >> 41);
    }

    /** The integer part, rounded down, of log2(10^e). */
    private static int floorLog2OfTen(int e) {
        return (int) ((e * 913_124_641_741L) >> 38);
    }
}
