// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonWriterTest {
    private final JsonWriter json = new JsonWriter();

    @ParameterizedTest
    @CsvSource({
        "0.0, 0.0",
        "-0.0, -0.0",
        "1.0, 1.0",
        "-17.0, -17.0",
        "1.5, 1.5",
        "0.1, 0.1",
        "3.3, 3.3",
        "1e-6, 0.000001",
        "1.5e-6, 0.0000015",
        "1e-7, 1e-7",
        "1.25e-7, 1.25e-7",
        "9007199254740993.0, 9007199254740992.0",
        "1e20, 100000000000000000000.0",
        "1.2345e20, 123450000000000000000.0",
        "1e21, 1e21",
        "1.234e33, 1.234e33",
        "4.9e-324, 5e-324",
        "2e23, 2e23",
        "1.7976931348623157e308, 1.7976931348623157e308",
        "2.2250738585072014e-308, 2.2250738585072014e-308",
        "123456.789, 123456.789",
        "NaN, NaN",
        "Infinity, Infinity",
        "-Infinity, -Infinity",
    })
    void shouldWriteDoublesInTheProtocolsForm(double value, String expected) {
        assertThat(text(json.fp64(value))).isEqualTo(expected);
    }

    @Test
    void shouldWidenFloats() {
        assertThat(text(json.fp64(1.1f))).isEqualTo("1.100000023841858");
    }

    @Test
    void shouldWriteTheShortestDigitsThatReadAsTheSameDouble() {
        Random random = new Random(20260104);
        for (int i = 0; i < 20_000; i++) {
            double value = Double.longBitsToDouble(random.nextLong());
            if (!Double.isFinite(value)) {
                continue;
            }
            json.clear();
            String written = text(json.fp64(value));
            assertThat(Double.parseDouble(written)).isEqualTo(value);
            BigDecimal ours = new BigDecimal(written).stripTrailingZeros();
            BigDecimal theirs = new BigDecimal(Double.toString(value)).stripTrailingZeros();
            assertThat(ours.precision()).as(written).isLessThanOrEqualTo(theirs.precision());
            // With one digit enough, the JDK takes the nearest of two digits.
            if (theirs.precision() > 2) {
                assertThat(ours).isEqualByComparingTo(theirs);
            }
        }
    }

    @Test
    void shouldWritePowersOfTwoWhoseNeighboursAreNotEquallyFar() {
        for (int exponent = -1074; exponent <= 1023; exponent++) {
            double value = Math.scalb(1.0, exponent);
            json.clear();
            assertThat(Double.parseDouble(text(json.fp64(value)))).isEqualTo(value);
        }
    }

    @ParameterizedTest
    @ValueSource(
            longs = {0, 1, -1, 9, 10, 99, 100, 2147483647, 2147483648L, -2147483649L, Long.MAX_VALUE, Long.MIN_VALUE})
    void shouldWriteIntegers(long value) {
        assertThat(text(json.signed(value))).isEqualTo(Long.toString(value));
        json.clear();
        assertThat(text(json.unsigned(value))).isEqualTo(Long.toUnsignedString(value));
    }

    @Test
    void shouldEscapeQuotesBackslashesAndControlCharactersOnly() {
        String text = "\"\\/\b\f\n\r\t\u0001\u001f\u007f\u00e9\u20ac\ud83d\ude00";

        assertThat(text(json.string(text)))
                .isEqualTo("\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001F\u007f\u00e9\u20ac\ud83d\ude00\"");
    }

    @Test
    void shouldGrowAndShrinkAgain() {
        String long64 = "x".repeat(64);
        for (int i = 0; i < 2000; i++) {
            json.string(long64);
        }
        assertThat(json.size()).isEqualTo(2000 * 66);

        json.clear();

        assertThat(json.array().length).isLessThan(10_000);
    }

    private static String text(JsonWriter json) {
        return new String(json.array(), 0, json.size(), StandardCharsets.UTF_8);
    }

    @Test
    void shouldGiveWhatFillsItsWindowToTheOverflow() {
        StringBuilder expected = new StringBuilder();
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        json.overflowTo(full -> {
            assertThat(full.size()).isLessThanOrEqualTo(JsonWriter.WINDOW);
            sent.write(full.array(), 0, full.size());
        });
        Random random = new Random(20260905);
        for (int i = 0; i < 20_000; i++) {
            long number = random.nextLong();
            json.signed(number).raw(',');
            expected.append(number).append(',');
        }
        String text = "é\"😀\n".repeat(30_000);
        json.string(text);
        expected.append('"').append("é\\\"😀\\n".repeat(30_000)).append('"');
        byte[] bytes = "b".repeat(100_000).getBytes(StandardCharsets.US_ASCII);
        json.raw(bytes, bytes.length).raw(MemorySegment.ofArray(bytes));
        expected.append("b".repeat(200_000));

        assertThat(json.array().length).isLessThanOrEqualTo(JsonWriter.WINDOW);
        assertThat(json.total()).isEqualTo(expected.toString().getBytes(StandardCharsets.UTF_8).length);
        sent.write(json.array(), 0, json.size());
        assertThat(sent.toString(StandardCharsets.UTF_8)).isEqualTo(expected.toString());
    }
}
