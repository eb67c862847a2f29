// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.grpc.ResponseCompression;
import gatun.runtime.ControlMode;
import gatun.runtime.logging.LogFormat;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Readers of the values of flags. Each says what it expected when the value is wrong. */
final class FlagValues {
    private FlagValues() {}

    private static TypeConversionException wrong(String value, String expected) {
        return new TypeConversionException("'" + value + "' is not " + expected);
    }

    /** {@code true} or {@code false}, or 1 or 0, in any case, as Triton reads it. */
    static final class TrueFalse implements ITypeConverter<Boolean> {
        @Override
        public Boolean convert(String value) {
            return switch (value.toLowerCase(Locale.ROOT)) {
                case "true", "1" -> true;
                case "false", "0" -> false;
                default -> throw wrong(value, "true or false");
            };
        }
    }

    /** A TCP port; 0 asks for any free one. */
    static final class Port implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return (int) number(value, 0, 65_535, "a port: a number from 0 to 65535, 0 for any free port");
        }
    }

    /** A number of bytes above zero. */
    static final class ByteSize implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            return number(value, 1, Long.MAX_VALUE, "a number of bytes from 1 up, such as 67108864");
        }
    }

    /** A limit of a count or of bytes that lets something through. */
    static final class Limit implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return (int) number(value, 1, Integer.MAX_VALUE, "a limit: a number from 1 to " + Integer.MAX_VALUE);
        }
    }

    /** A number of bytes; zero is allowed. */
    static final class ByteSizeOrNone implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            return number(value, 0, Long.MAX_VALUE, "a number of bytes from 0 up, such as 67108864");
        }
    }

    /** The size of the response cache: {@code local,size=BYTES}. */
    static final class CacheSize implements ITypeConverter<Long> {
        private static final String PREFIX = "local,size=";

        @Override
        public Long convert(String value) {
            String expected =
                    "local,size=BYTES, such as local,size=67108864; there is no other cache than the local one";
            if (!value.startsWith(PREFIX)) {
                throw wrong(value, expected);
            }
            try {
                return number(value.substring(PREFIX.length()), 1, Long.MAX_VALUE, expected);
            } catch (TypeConversionException e) {
                throw wrong(value, expected);
            }
        }
    }

    /** A number of seconds; zero is allowed. */
    static final class Seconds implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return (int) number(value, 0, Integer.MAX_VALUE, "a number of seconds from 0 up");
        }
    }

    /** A number of seconds; below zero stands for never. */
    static final class PollSeconds implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return (int) number(value, Integer.MIN_VALUE, Integer.MAX_VALUE, "a number of seconds");
        }
    }

    /** A number of milliseconds; at least one. */
    static final class Milliseconds implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return (int) number(value, 1, Integer.MAX_VALUE, "a number of milliseconds from 1 up");
        }
    }

    /** A number of microseconds; one below zero is as zero. */
    static final class Microseconds implements ITypeConverter<Long> {
        @Override
        public Long convert(String value) {
            return Math.max(0, number(value, Long.MIN_VALUE, Long.MAX_VALUE, "a number of microseconds"));
        }
    }

    /** A number of milliseconds; zero stands for something else. */
    static final class MillisecondsOrNone implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return (int) number(value, 0, Integer.MAX_VALUE, "a number of milliseconds from 0 up");
        }
    }

    /** How many of something; zero stands for any number. */
    static final class CountOrAny implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return (int) number(value, 0, Integer.MAX_VALUE, "a number from 0 up, 0 for any number");
        }
    }

    /** A number of seconds from one thing to the next; at least one. */
    static final class Interval implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return (int) number(value, 1, Integer.MAX_VALUE, "a number of seconds from 1 up");
        }
    }

    /** How many of something; at least one. */
    static final class Count implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return (int) number(value, 1, 1024, "a number from 1 to 1024");
        }
    }

    /** How often to try again; zero is allowed. */
    static final class Retries implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return (int) number(value, 0, 1024, "a number from 0 to 1024");
        }
    }

    /** How often to do something; zero is allowed. */
    static final class Iterations implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return (int) number(value, 0, Integer.MAX_VALUE, "a number from 0 up");
        }
    }

    /** How much to log: a number, or {@code true} for 1 and {@code false} for 0, as Triton takes it. */
    static final class Verbosity implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String value) {
            return switch (value.toLowerCase(Locale.ROOT)) {
                case "true" -> 1;
                case "false" -> 0;
                default -> (int) number(value, 0, Integer.MAX_VALUE, "a level from 0 up");
            };
        }
    }

    /** The names of {@link LogFormat}, in Triton's spelling. */
    static final class Format implements ITypeConverter<LogFormat> {
        @Override
        public LogFormat convert(String value) {
            return switch (value) {
                case "default" -> LogFormat.DEFAULT;
                case "ISO8601" -> LogFormat.ISO8601;
                default -> throw wrong(value, "a format: default or ISO8601");
            };
        }
    }

    /** A regular expression. */
    static final class Regex implements ITypeConverter<Pattern> {
        @Override
        public Pattern convert(String value) {
            try {
                return Pattern.compile(value);
            } catch (PatternSyntaxException e) {
                throw wrong(value, "a regular expression: " + e.getDescription());
            }
        }
    }

    /** The names of {@link ControlMode}. */
    static final class Control implements ITypeConverter<ControlMode> {
        @Override
        public ControlMode convert(String value) {
            return switch (value) {
                case "none" -> ControlMode.NONE;
                case "explicit" -> ControlMode.EXPLICIT;
                case "poll" -> ControlMode.POLL;
                default -> throw wrong(value, "a mode: none, poll or explicit");
            };
        }
    }

    /** The names of {@link RateLimitMode}, in Triton's spelling. */
    static final class RateLimit implements ITypeConverter<RateLimitMode> {
        @Override
        public RateLimitMode convert(String value) {
            return switch (value) {
                case "off" -> RateLimitMode.OFF;
                case "execution_count" -> RateLimitMode.EXECUTION_COUNT;
                default -> throw wrong(value, "a mode: off or execution_count");
            };
        }
    }

    /** The names of {@link ResponseCompression}, in Triton's spelling. */
    static final class Compression implements ITypeConverter<ResponseCompression> {
        @Override
        public ResponseCompression convert(String value) {
            return switch (value) {
                case "none" -> ResponseCompression.NONE;
                case "low" -> ResponseCompression.LOW;
                case "medium" -> ResponseCompression.MEDIUM;
                case "high" -> ResponseCompression.HIGH;
                default -> throw wrong(value, "a level: none, low, medium or high");
            };
        }
    }

    /** One option of one backend: {@code onnxruntime,library=PATH}. */
    static final class Backend implements ITypeConverter<BackendOption> {
        @Override
        public BackendOption convert(String value) {
            int comma = value.indexOf(',');
            int equals = value.indexOf('=', comma + 1);
            if (comma < 1 || equals < comma + 2) {
                throw wrong(value, "BACKEND,OPTION=VALUE, such as onnxruntime,library=/opt/lib/libonnxruntime.so");
            }
            return new BackendOption(
                    value.substring(0, comma), value.substring(comma + 1, equals), value.substring(equals + 1));
        }
    }

    /**
     * Reads a number from {@code least} to {@code most}; {@code expected} describes the values that are right, in the
     * flag's words.
     */
    static long number(String value, long least, long most, String expected) {
        try {
            long number = Long.parseLong(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Reported below, in the words of the flag.
        }
        throw wrong(value, expected);
    }
}
