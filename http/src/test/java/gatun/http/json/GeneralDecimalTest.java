// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GeneralDecimalTest {
    private final GeneralDecimal decimal = new GeneralDecimal();

    private String text(float value) {
        JsonWriter json = new JsonWriter();
        decimal.write(json, value);
        return new String(json.array(), 0, json.size(), StandardCharsets.US_ASCII);
    }

    private String text(double value) {
        JsonWriter json = new JsonWriter();
        decimal.write(json, value);
        return new String(json.array(), 0, json.size(), StandardCharsets.US_ASCII);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0.0",
        "-0.0, -0.0",
        "1, 1.0",
        "0.1, 0.1",
        "-2.5, -2.5",
        "16777216, 16777216.0",
        "9000000, 9e+06",
        "0.00003, 3e-05",
        "0.0001, 0.0001",
        "123456, 123456.0",
        "1234567, 1234567.0",
        "1000000, 1e+06",
        "1.1234567, 1.12345672",
        "0.012345678, 0.0123456782",
        "3.4028235e38, 3.40282347e+38",
        "1.4e-45, 1.4013e-45",
        "123456789, 123456792.0",
        "1e10, 1e+10",
        "12345678848, 1.23456788e+10",
        "NaN, NaN",
        "Infinity, Infinity",
        "-Infinity, -Infinity"
    })
    void shouldWriteFloats(float value, String expected) {
        assertThat(text(value)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "0.1, 0.1",
        "0.123456, 0.123456",
        "0.1234567, 0.1234567",
        "1234567, 1234567.0",
        "1e300, 1e+300",
        "1.7976931348623157e308, 1.7976931348623157e+308",
        "4.9e-324, 4.94066e-324",
        "-Infinity, -Infinity"
    })
    void shouldWriteDoubles(double value, String expected) {
        assertThat(text(value)).isEqualTo(expected);
    }

    @Test
    void shouldWriteFloatsWithTheDigitsOfTheirExactValues() {
        Random random = new Random(7);
        for (int i = 0; i < 100_000; i++) {
            float value = Float.intBitsToFloat(random.nextInt());
            if (!Float.isFinite(value) || value == 0) {
                continue;
            }
            BigDecimal exact = new BigDecimal(value);
            BigDecimal few = exact.round(new MathContext(6, RoundingMode.HALF_EVEN));
            BigDecimal expected =
                    few.floatValue() == value ? few : exact.round(new MathContext(9, RoundingMode.HALF_EVEN));
            assertThat(new BigDecimal(text(value))).as("%s", value).isEqualByComparingTo(expected);
        }
    }

    @Test
    void shouldWriteDoublesWithTheDigitsOfTheirExactValues() {
        Random random = new Random(8);
        for (int i = 0; i < 20_000; i++) {
            double value = Double.longBitsToDouble(random.nextLong());
            if (Double.isFinite(value) && value != 0) {
                BigDecimal expected = new BigDecimal(value).round(new MathContext(17, RoundingMode.HALF_EVEN));
                assertThat(new BigDecimal(text(value))).as("%s", value).isEqualByComparingTo(expected);
            }
        }
    }
}
