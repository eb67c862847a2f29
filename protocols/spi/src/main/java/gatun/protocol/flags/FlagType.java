// SPDX-License-Identifier: Apache-2.0
package gatun.protocol.flags;

import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * How the values of a flag are written.
 *
 * @param label what the help calls a value
 * @param type {@code Boolean} for truth values, and {@code Object} for all others
 * @param bare the value that is meant where the flag stands without one; empty where it needs one
 * @param reader reads a value; throws {@link FlagException}, which tells what was expected
 * @param text a value as it is written
 * @param choices all values, where there are few; empty otherwise
 */
public record FlagType<T>(
        String label,
        Class<?> type,
        Optional<String> bare,
        Function<String, T> reader,
        Function<T, String> text,
        List<String> choices) {
    /** {@code true} or {@code false}, or 1 or 0, in any case: what Triton takes. */
    public static final FlagType<Boolean> TRUE_FALSE = new FlagType<>(
            "BOOL",
            Boolean.class,
            Optional.of("true"),
            FlagType::trueOrFalse,
            String::valueOf,
            List.of("true", "false"));

    /** Any text. */
    public static final FlagType<String> TEXT = of("NAME", text -> text);

    /** A file or a folder. */
    public static final FlagType<Path> PATH = of("FILE", Path::of);

    /** A regular expression. */
    public static final FlagType<Pattern> REGEX = of("REGEX", FlagType::regex);

    /** A TCP port; 0 asks for any free one. */
    public static final FlagType<Integer> PORT =
            whole("PORT", 0, 65_535, "a port: a number from 0 to 65535, 0 for any free port");

    /** A number of bytes above zero. */
    public static final FlagType<Long> BYTE_SIZE = number("BYTES", 1, "a number of bytes from 1 up, such as 67108864");

    /** A number of bytes; zero is allowed. */
    public static final FlagType<Long> BYTE_SIZE_OR_NONE =
            number("BYTES", 0, "a number of bytes from 0 up, such as 67108864");

    /** A limit of a count or of bytes that lets something through. */
    public static final FlagType<Integer> LIMIT =
            whole("N", 1, Integer.MAX_VALUE, "a limit: a number from 1 to " + Integer.MAX_VALUE);

    /** How many of something; zero stands for any number. */
    public static final FlagType<Integer> COUNT_OR_ANY =
            whole("N", 0, Integer.MAX_VALUE, "a number from 0 up, 0 for any number");

    /** How many of something; at least one. */
    public static final FlagType<Integer> COUNT = whole("N", 1, 1024, "a number from 1 to 1024");

    /** How often to try again; zero is allowed. */
    public static final FlagType<Integer> RETRIES = whole("N", 0, 1024, "a number from 0 to 1024");

    /** How often to do something; zero is allowed. */
    public static final FlagType<Integer> ITERATIONS = whole("N", 0, Integer.MAX_VALUE, "a number from 0 up");

    /** A number of seconds; zero is allowed. */
    public static final FlagType<Duration> SECONDS = seconds(0, "a number of seconds from 0 up");

    /** A number of seconds from one thing to the next; at least one. */
    public static final FlagType<Duration> INTERVAL = seconds(1, "a number of seconds from 1 up");

    /** A number of seconds; below zero stands for never. */
    public static final FlagType<Duration> POLL_SECONDS = seconds(Integer.MIN_VALUE, "a number of seconds");

    /** A number of milliseconds; at least one. */
    public static final FlagType<Duration> MILLISECONDS = milliseconds(1, "a number of milliseconds from 1 up");

    /** A number of milliseconds; zero stands for something else. */
    public static final FlagType<Duration> MILLISECONDS_OR_NONE = milliseconds(0, "a number of milliseconds from 0 up");

    /** A number of milliseconds; below one stands for always. */
    public static final FlagType<Duration> ANY_MILLISECONDS =
            milliseconds(Integer.MIN_VALUE, "an int").labelled("MILLIS");

    /** A number of microseconds; one below zero is as zero. */
    public static final FlagType<Duration> MICROSECONDS = number(
                    "MICROSECONDS", Long.MIN_VALUE, "a number of microseconds")
            .as(micros -> Duration.of(Math.max(0, micros), ChronoUnit.MICROS), d -> d.toNanos() / 1000);

    /** Values that are shown nowhere, or as their class shows them. */
    public static <T> FlagType<T> of(String label, Function<String, T> reader) {
        return new FlagType<>(label, Object.class, Optional.empty(), reader, String::valueOf, List.of());
    }

    /** One of some names. {@code expected} says what to say of others. */
    public static <T> FlagType<T> choice(String label, String expected, Map<String, T> names) {
        return new FlagType<>(
                label,
                Object.class,
                Optional.empty(),
                value -> Optional.ofNullable(names.get(value)).orElseThrow(() -> wrong(value, expected)),
                named -> names.entrySet().stream()
                        .filter(entry -> entry.getValue().equals(named))
                        .findFirst()
                        .orElseThrow()
                        .getKey(),
                names.keySet().stream().sorted().toList());
    }

    /** The same for a flag that stands for {@code value} where it is given without one. */
    public FlagType<T> orBare(String value) {
        return new FlagType<>(label, type, Optional.of(value), reader, text, choices);
    }

    /** The same with values that the help calls otherwise. */
    public FlagType<T> labelled(String other) {
        return new FlagType<>(other, type, bare, reader, text, choices);
    }

    /** The value that {@code text} says. */
    public T read(String text) {
        return reader.apply(text);
    }

    /** Reads a number from {@code least} to {@code most}; {@code expected} describes other values to the user. */
    public static long number(String value, long least, long most, String expected) {
        try {
            long number = Long.parseLong(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below, in the words of the flag.
        }
        throw wrong(value, expected);
    }

    private <U> FlagType<U> as(Function<T, U> made, Function<U, T> taken) {
        return new FlagType<>(label, type, bare, reader.andThen(made), taken.andThen(text), choices);
    }

    private static FlagType<Long> number(String label, long least, String expected) {
        return of(label, value -> number(value, least, Long.MAX_VALUE, expected));
    }

    /** A number from {@code least} to {@code most}; {@code expected} says so in the words of the flag. */
    public static FlagType<Integer> whole(String label, int least, int most, String expected) {
        return of(label, value -> (int) number(value, least, most, expected));
    }

    private static FlagType<Duration> seconds(int least, String expected) {
        return whole("SECONDS", least, Integer.MAX_VALUE, expected).as(Duration::ofSeconds, d -> (int) d.toSeconds());
    }

    private static FlagType<Duration> milliseconds(int least, String expected) {
        return whole("MS", least, Integer.MAX_VALUE, expected).as(Duration::ofMillis, d -> (int) d.toMillis());
    }

    private static Boolean trueOrFalse(String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "true", "1" -> true;
            case "false", "0" -> false;
            default -> throw wrong(value, "true or false");
        };
    }

    private static Pattern regex(String value) {
        try {
            return Pattern.compile(value);
        } catch (PatternSyntaxException e) {
            throw wrong(value, "a regular expression: " + e.getDescription());
        }
    }

    /** Says that {@code value} is not what was expected. */
    public static FlagException wrong(String value, String expected) {
        return new FlagException("'" + value + "' is not " + expected);
    }

    /** The values of flags are wrong, or contradict each other; the text tells the operator why. */
    public static final class FlagException extends RuntimeException {
        private static final long serialVersionUID = 1;

        /** With the reason. */
        public FlagException(String message) {
            super(message, null, false, false);
        }
    }
}
