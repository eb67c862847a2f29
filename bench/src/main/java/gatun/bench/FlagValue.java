// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.bench.load.Distribution;
import gatun.client.Compression;
import gatun.memory.tensor.Shape;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Readers of the values of flags. Each says what it expected when the value is wrong. */
final class FlagValue {
    private static final int GREATEST_LIST = 10_000;

    private FlagValue() {}

    private static TypeConversionException wrong(String value, String expected) {
        return new TypeConversionException("'" + value + "' is not " + expected);
    }

    /** A time: {@code 5s}, {@code 500ms}, {@code 250us} or milliseconds without a unit. */
    static final class Time implements ITypeConverter<Duration> {
        private static final Pattern FORM = Pattern.compile("(\\d+(?:\\.\\d+)?)(us|ms|s|m)?");
        private static final String EXPECTED = "a time, such as 5s, 500ms or 250us; without a unit it is milliseconds";

        @Override
        public Duration convert(String value) {
            Matcher form = FORM.matcher(value);
            if (!form.matches()) {
                throw wrong(value, EXPECTED);
            }
            String unit = form.group(2) == null ? "ms" : form.group(2);
            long nanosPerUnit =
                    switch (unit) {
                        case "us" -> 1_000L;
                        case "s" -> 1_000_000_000L;
                        case "m" -> 60_000_000_000L;
                        default -> 1_000_000L;
                    };
            BigDecimal nanos = new BigDecimal(form.group(1)).multiply(BigDecimal.valueOf(nanosPerUnit));
            if (nanos.compareTo(BigDecimal.valueOf(Duration.ofDays(1).toNanos())) > 0) {
                throw wrong(value, "a time of at most a day");
            }
            return Duration.ofNanos(nanos.longValue());
        }
    }

    /** A part: {@code 10%}, or per cent without the sign. */
    static final class Percent implements ITypeConverter<Double> {
        @Override
        public Double convert(String value) {
            String number = value.endsWith("%") ? value.substring(0, value.length() - 1) : value;
            double percent = number(number, value, "per cent, such as 10%");
            if (percent <= 0) {
                throw wrong(value, "per cent above 0, such as 10%");
            }
            return percent / 100;
        }
    }

    static final class Percentile implements ITypeConverter<Double> {
        @Override
        public Double convert(String value) {
            String plain = value.startsWith("p") ? value.substring(1) : value;
            double percentile = number(plain, value, "a percentile, such as 99");
            if (percentile <= 0 || percentile >= 100) {
                throw wrong(value, "a percentile above 0 and below 100, such as 99");
            }
            return percentile;
        }
    }

    /** How far numbers may differ. */
    static final class Tolerance implements ITypeConverter<Double> {
        @Override
        public Double convert(String value) {
            double tolerance = number(value, value, "a number from 0 up, such as 1e-5");
            if (tolerance < 0) {
                throw wrong(value, "a number from 0 up, such as 1e-5");
            }
            return tolerance;
        }
    }

    /** A whole number above zero. */
    static final class Count implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            try {
                int count = Integer.parseInt(value);
                if (count > 0) {
                    return count;
                }
            } catch (NumberFormatException e) {
                // Reported below.
            }
            throw wrong(value, "a whole number from 1 up");
        }
    }

    /** {@code 1,2,4} or {@code START:END:STEP}, whole numbers from 1 to 10000. */
    static final class Concurrencies implements ITypeConverter<List<Integer>> {
        private static final String EXPECTED =
                "a list of whole numbers from 1 to 10000, such as 1,2,4, or a range as START:END:STEP, such as 1:16:5";
        private static final int GREATEST = 10_000;

        @Override
        public List<Integer> convert(String value) {
            List<Integer> numbers = new ArrayList<>();
            for (double number : numbers(value, EXPECTED)) {
                if (number != Math.rint(number) || number < 1 || number > GREATEST) {
                    throw wrong(value, EXPECTED);
                }
                numbers.add((int) number);
            }
            return numbers;
        }
    }

    /** {@code 100,200} or {@code START:END:STEP}, numbers above zero. */
    static final class Rates implements ITypeConverter<List<Double>> {
        private static final String EXPECTED =
                "a list of requests per second, such as 100,200, or a range as START:END:STEP, such as 100:1000:100";

        @Override
        public List<Double> convert(String value) {
            List<Double> numbers = numbers(value, EXPECTED);
            if (numbers.stream().anyMatch(number -> number <= 0)) {
                throw wrong(value, EXPECTED);
            }
            return numbers;
        }
    }

    /** {@code NAME:1,3,224,224}. */
    static final class NamedShape implements ITypeConverter<Map.Entry<String, Shape>> {
        private static final String EXPECTED = "NAME:DIM,DIM..., such as image:3,224,224";

        @Override
        public Map.Entry<String, Shape> convert(String value) {
            int colon = value.lastIndexOf(':');
            if (colon < 1) {
                throw wrong(value, EXPECTED);
            }
            String[] dims = value.substring(colon + 1).split(",", -1);
            long[] shape = new long[dims.length];
            for (int i = 0; i < dims.length; i++) {
                try {
                    shape[i] = Long.parseLong(dims[i]);
                } catch (NumberFormatException e) {
                    throw wrong(value, EXPECTED);
                }
                if (shape[i] < 0) {
                    throw wrong(value, EXPECTED);
                }
            }
            return Map.entry(value.substring(0, colon), Shape.of(shape));
        }
    }

    /** The names of {@link TargetFlags.Protocol}, in any case. */
    static final class ProtocolName implements ITypeConverter<TargetFlags.Protocol> {
        @Override
        public TargetFlags.Protocol convert(String value) {
            return oneOf(value, "a protocol", TargetFlags.Protocol.values());
        }
    }

    /** The names of {@link Distribution}, in any case. */
    static final class DistributionName implements ITypeConverter<Distribution> {
        @Override
        public Distribution convert(String value) {
            return oneOf(value, "a distribution", Distribution.values());
        }
    }

    /** The names of {@link Compression}, in any case. */
    static final class CompressionName implements ITypeConverter<Compression> {
        @Override
        public Compression convert(String value) {
            return oneOf(value, "a compression", Compression.values());
        }
    }

    /** {@code NAME: VALUE}. */
    static final class Header implements ITypeConverter<Map.Entry<String, String>> {
        @Override
        public Map.Entry<String, String> convert(String value) {
            int colon = value.indexOf(':');
            if (colon < 1) {
                throw wrong(value, "a header, such as 'x-tenant: blue'");
            }
            return Map.entry(
                    value.substring(0, colon).strip(),
                    value.substring(colon + 1).strip());
        }
    }

    private static <E extends Enum<E>> E oneOf(String value, String what, E[] choices) {
        for (E choice : choices) {
            if (choice.name().equalsIgnoreCase(value)) {
                return choice;
            }
        }
        throw wrong(
                value,
                what + ": "
                        + Arrays.stream(choices)
                                .map(choice -> choice.name().toLowerCase(Locale.ROOT))
                                .collect(Collectors.joining(" or ")));
    }

    private static List<Double> numbers(String value, String expected) {
        List<Double> numbers = new ArrayList<>();
        String[] range = value.split(":", -1);
        if (range.length == 1) {
            for (String one : value.split(",", -1)) {
                numbers.add(number(one, value, expected));
            }
            return numbers;
        }
        double start = number(range[0], value, expected);
        double end = number(range[1], value, expected);
        double step = range.length == 3 ? number(range[2], value, expected) : 1;
        if (range.length > 3 || step <= 0 || end < start || (end - start) / step > GREATEST_LIST) {
            throw wrong(value, expected);
        }
        // Counted, so that fractions do not add up.
        for (int i = 0; start + i * step <= end * (1 + 1e-12); i++) {
            numbers.add(start + i * step);
        }
        return numbers;
    }

    private static double number(String text, String value, String expected) {
        try {
            double number = Double.parseDouble(text.strip());
            if (Double.isFinite(number)) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw wrong(value, expected);
    }
}
