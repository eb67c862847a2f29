// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Writes floating-point numbers as C's {@code %g} does, with six significant digits where those read as the same
 * number, else with as many as the type needs. For one thread; makes no garbage but for doubles of more than six
 * digits.
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
    /** The number is the digits times ten to the exponent. */
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
        BigInteger unscaled = rounded.unscaledValue();
        digits = unscaled.longValueExact();
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
}
