// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.math.BigDecimal;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonNumberTest {
    private static final int ROUNDS = 20_000;

    private Arena arena = Arena.ofConfined();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    @Test
    void shouldReadDoublesAsTheJdkDoes() {
        Random random = new Random(20260101);
        for (int i = 0; i < ROUNDS; i++) {
            double expected = Double.longBitsToDouble(random.nextLong());
            if (Double.isFinite(expected)) {
                assertReadsAsTheJdk(Double.toString(expected));
            }
        }
    }

    @Test
    void shouldReadDigitsOfAnyLengthAsTheJdkDoes() {
        Random random = new Random(20260102);
        for (int i = 0; i < ROUNDS; i++) {
            assertReadsAsTheJdk(anyDecimal(random));
        }
    }

    @Test
    void shouldRoundToTheEvenOneOfTwoNeighboursThatAreEquallyNear() {
        Random random = new Random(20260103);
        for (int i = 0; i < ROUNDS / 10; i++) {
            double low = Math.abs(Double.longBitsToDouble(random.nextLong()));
            if (low < 1e300 && low > 1e-300) {
                assertReadsAsTheJdk(between(low, Math.nextUp(low)).toString());
                assertReadsAsTheJdk(between(low, Math.nextUp(low))
                        .add(new BigDecimal("1e-800"))
                        .toString());
            }
            float lowFloat = Math.abs(Float.intBitsToFloat(random.nextInt()));
            if (lowFloat < Float.MAX_VALUE) {
                assertReadsAsTheJdk(between(lowFloat, Math.nextUp(lowFloat)).toString());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0., 20000, 1e20001, 1.0",
        "-0., 20000, 1e20001, -1.0",
        "0., 65000, 5e65000, 0.5",
        "0., 40000, 1e40310, Infinity",
        "0., 30000, 1e-5, 0.0",
        "1, 20000, e-20000, 1.0",
        "1, 20000, .0e-20001, 0.1",
        "0, 0, e99999999999999999999, 0.0",
        "0., 10000, 12345678901234567890123e10010, 1234567890.1234567",
    })
    void shouldMakeUpForZerosByTheExponent(String begin, int zeros, String end, double expected) {
        String text = begin + "0".repeat(zeros) + end;
        if (Double.isInfinite(expected)) {
            assertThatThrownBy(() -> number(text)).hasMessageContaining("Number too big");
        } else {
            assertThat(number(text).toDouble()).isEqualTo(expected);
            assertThat(number(text).toFloat()).isEqualTo(Float.parseFloat(Double.toString(expected)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.", "-0.", "1e", "1e-"})
    void shouldLookAtNoMoreOfANumberThanItMayHave(String begin) {
        String longest = begin + "0".repeat((64 << 10) - begin.length() - 1) + "7";

        assertThat(number(longest).isFinite()).isTrue();
        assertThatThrownBy(() -> number(longest + "8" + "0".repeat(1 << 20)))
                .hasMessageContaining("Number of more than 65536 characters. at 0");
        assertThatThrownBy(() -> number("1".repeat(1 << 20))).hasMessageContaining("more than 65536 characters");
    }

    @Test
    void shouldReadLongTextsAsBigDecimalDoes() {
        Random random = new Random(20260904);
        for (int i = 0; i < ROUNDS / 20; i++) {
            String text = longDecimal(random);
            BigDecimal exact = new BigDecimal(text);

            assertThat(number(text).toDouble()).as(text).isEqualTo(exact.doubleValue());
            assertThat(number(text).toFloat()).as(text).isEqualTo(exact.floatValue());
        }
    }

    /**
     * Hundreds of digits or zeros before or behind the point, an exponent that takes most of them back, often near a
     * middle.
     */
    private static String longDecimal(Random random) {
        StringBuilder digits = new StringBuilder();
        if (random.nextBoolean()) {
            float low = Math.abs(Float.intBitsToFloat(random.nextInt(0x7F000000)));
            digits.append(between(low, Math.nextUp(low)).unscaledValue().abs());
        } else {
            digits.append((char) ('1' + random.nextInt(9)));
            for (int i = random.nextInt(1500); i > 0; i--) {
                digits.append((char) ('0' + random.nextInt(10)));
            }
        }
        digits.append("0".repeat(random.nextInt(3) * random.nextInt(700)));
        if (random.nextBoolean()) {
            digits.append(random.nextInt(10));
        }
        int count = digits.length();
        String begin = random.nextBoolean() ? "-" : "";
        if (random.nextBoolean()) {
            int zeros = random.nextInt(2000);
            begin += "0." + "0".repeat(zeros) + digits;
            return begin + "e" + (zeros + random.nextInt(600) - 330);
        }
        int point = 1 + random.nextInt(count);
        begin += digits.substring(0, point) + (point < count ? "." + digits.substring(point) : ".0");
        return begin + "e" + (random.nextInt(600) - 330 - point);
    }

    @Test
    void shouldNotRoundAFloatTwice() {
        // Just above the middle between 1 and the next float; by way of a double it would be the middle, and become 1.
        String text = "1.00000005960464477539062500000000001";

        assertThat((float) Double.parseDouble(text)).isEqualTo(1f);
        assertThat(number(text).toFloat()).isEqualTo(Math.nextUp(1f));
    }

    @ParameterizedTest
    @CsvSource({
        "NaN, NaN",
        "-NaN, NaN",
        "Inf, Infinity",
        "-Inf, -Infinity",
        "Infinity, Infinity",
        "-Infinity, -Infinity",
        "-0, -0.0",
        "0e999999999999, 0.0",
        "1e-999999999999, 0.0",
        "18446744073709551615, 1.8446744073709552E19",
        "18446744073709551616, 1.8446744073709552E19",
        "4.9e-324, 4.9E-324",
        "2.2250738585072011e-308, 2.225073858507201E-308",
        "1.7976931348623157e308, 1.7976931348623157E308",
    })
    void shouldReadSpecialNumbers(String text, Double expected) {
        assertThat(number(text).toDouble()).isEqualTo(expected);
        assertThat(number(text).toFloat()).isEqualTo(Float.valueOf(expected.floatValue()));
    }

    @ParameterizedTest
    @CsvSource({
        "0, true, true, 0",
        "-0, true, true, 0",
        "9223372036854775807, true, true, 9223372036854775807",
        "9223372036854775808, true, false, -9223372036854775808",
        "-9223372036854775808, false, true, -9223372036854775808",
        "-9223372036854775809, false, false, 9223372036854775807",
        "10000000000000000000, true, false, -8446744073709551616",
        "18446744073709551615, true, false, -1",
        "-1, false, true, -1",
    })
    void shouldTellWhichIntegersFit(String text, boolean unsigned, boolean signed, long bits) {
        JsonNumber number = number(text);

        assertThat(number.fitsUnsigned64()).isEqualTo(unsigned);
        assertThat(number.fitsSigned64()).isEqualTo(signed);
        assertThat(number.integerBits()).isEqualTo(bits);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"18446744073709551616", "19999999999999999999", "100000000000000000000", "1.0", "1e3", "NaN"})
    void shouldNotTakeOtherNumbersForIntegers(String text) {
        assertThat(number(text).fitsUnsigned64()).isFalse();
        assertThat(number(text).fitsSigned64()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "1., Miss fraction part in number. at 2",
        "1.e5, Miss fraction part in number. at 2",
        "1e, Miss exponent in number. at 2",
        "1.5e+, Miss exponent in number. at 5",
        "-, Invalid value. at 1",
        "-x, Invalid value. at 1",
        "Infinite, Invalid value. at 7",
        "NaM, Invalid value. at 2",
        "1e309, Number too big to be stored in double. at 0",
        "-1e309, Number too big to be stored in double. at 0",
    })
    void shouldSayWhyItIsNoNumber(String text, String reason) {
        assertThatThrownBy(() -> number(text)).hasMessage("failed to parse the request JSON buffer: " + reason);
    }

    private void assertReadsAsTheJdk(String text) {
        JsonNumber number = number(text);
        assertThat(number.toDouble()).as("%s as a double", text).isEqualTo(Double.parseDouble(text));
        assertThat(number.toFloat()).as("%s as a float", text).isEqualTo(Float.parseFloat(text));
    }

    /** The number that {@code text} begins with, valid until the next one. */
    private JsonNumber number(String text) {
        arena.close();
        arena = Arena.ofConfined();
        return NativeText.reader(arena, text).readNumber("");
    }

    private static BigDecimal between(double low, double high) {
        return new BigDecimal(low).add(new BigDecimal(high)).divide(BigDecimal.TWO);
    }

    private static String anyDecimal(Random random) {
        StringBuilder text = new StringBuilder();
        if (random.nextBoolean()) {
            text.append('-');
        }
        int integerDigits = random.nextInt(random.nextBoolean() ? 3 : 30);
        text.append(integerDigits == 0 ? '0' : (char) ('1' + random.nextInt(9)));
        for (int i = 1; i < integerDigits; i++) {
            text.append((char) ('0' + random.nextInt(10)));
        }
        int fractionDigits = random.nextInt(random.nextBoolean() ? 3 : 40);
        if (fractionDigits > 0) {
            text.append('.');
            boolean small = random.nextInt(4) == 0;
            for (int i = 0; i < fractionDigits; i++) {
                text.append(small && i < fractionDigits / 2 ? '0' : (char) ('0' + random.nextInt(10)));
            }
        }
        if (random.nextBoolean()) {
            text.append(random.nextBoolean() ? 'e' : 'E');
            text.append(random.nextInt(random.nextBoolean() ? 20 : 340) - (random.nextBoolean() ? 0 : 170));
        }
        String result = text.toString();
        return Double.isInfinite(Double.parseDouble(result)) ? "1" : result;
    }
}
