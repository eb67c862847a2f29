// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.http.connection.Exchange;
import gatun.http.openapi.Schema;
import gatun.memory.tensor.GatunException;
import io.helidon.http.Status;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a path that its route leaves open, decoded ({@code %20} is a blank) after the route was found by the
 * path as sent, so that no encoded slash leads to another. For the connection's thread, during a request.
 */
public final class PathValues {
    private final String path;
    private final PathPattern pattern;
    private final int[] bounds;
    private final @Nullable String[] values;

    PathValues(String path, PathPattern pattern, int[] bounds) {
        this.path = path;
        this.pattern = pattern;
        this.bounds = bounds;
        this.values = new String[bounds.length / 2];
    }

    /** The part called {@code name}; empty where the path leaves it out. Throws INVALID_ARGUMENT if badly encoded. */
    public String value(String name) {
        int index = pattern.indexOf(name);
        if (index < 0) {
            return "";
        }
        String value = values[index];
        if (value == null) {
            value = UrlText.ofPath(path.substring(bounds[2 * index], bounds[2 * index + 1]));
            values[index] = value;
        }
        return value;
    }

    /**
     * Paths of one form: segments that begin with a slash, each a literal or a parameter with perhaps a literal behind
     * it. {@code /v2/models/{model}/infer} takes any text that is not empty for {@code model};
     * {@code /v2/models/{model}/versions/{version:number}} takes decimal digits for {@code version};
     * {@code /v1/models/{model:word}:predict} takes for {@code model} any text without a colon. {@code [...]} may be
     * left out, and {@code [.|..]} is one of several or none. Immutable.
     */
    static final class PathPattern {
        private static final Pattern OPTION = Pattern.compile("\\[([^\\]]*)\\]");
        private static final Pattern SEGMENT = Pattern.compile("([^{}]*)|\\{([a-z]+)(?::(number|word))?\\}([^{}]*)");

        private final List<Segment> segments;
        private final List<String> names;

        private PathPattern(List<Segment> segments) {
            this.segments = segments;
            this.names = segments.stream()
                    .filter(segment -> !segment.parameter().isEmpty())
                    .map(Segment::parameter)
                    .toList();
        }

        /** One segment; {@code parameter} is empty for none. */
        record Segment(String parameter, Kind kind, String literal) {}

        /** The texts that a parameter may be. */
        enum Kind {
            TEXT,
            /** Text without a colon. */
            WORD,
            /** Decimal digits. */
            NUMBER;

            /** The kind that a pattern calls so; {@link #TEXT} for none. */
            static Kind of(@Nullable String name) {
                return name == null ? TEXT : valueOf(name.toUpperCase(Locale.ROOT));
            }

            /** The values as a description says them; numbers of more than 63 bits are none that anything has. */
            Schema schema() {
                return switch (this) {
                    case TEXT -> Schema.STRING.matching("^[^/]+$");
                    case WORD -> Schema.STRING.matching("^[^/:]+$");
                    case NUMBER -> Schema.COUNT;
                };
            }

            boolean allows(char c) {
                return switch (this) {
                    case TEXT -> true;
                    case WORD -> c != ':';
                    case NUMBER -> c >= '0' && c <= '9';
                };
            }
        }

        /** The patterns without options that {@code text} stands for. Throws if it is no pattern. */
        static List<PathPattern> parse(String text) {
            return expand(text).stream().map(PathPattern::parseSegments).toList();
        }

        /** The texts without options that {@code text} stands for, the shortest first. */
        static List<String> expand(String text) {
            Matcher option = OPTION.matcher(text);
            if (!option.find()) {
                return List.of(text);
            }
            String before = text.substring(0, option.start());
            String after = text.substring(option.end());
            List<String> texts = new ArrayList<>(expand(before + after));
            for (String alternative : option.group(1).split("\\|", -1)) {
                texts.addAll(expand(before + alternative + after));
            }
            return texts;
        }

        private static PathPattern parseSegments(String text) {
            if (!text.startsWith("/")) {
                throw new IllegalArgumentException("the path '" + text + "' does not begin with a slash");
            }
            List<Segment> segments = new ArrayList<>();
            for (String part : text.substring(1).split("/", -1)) {
                Matcher segment = SEGMENT.matcher(part);
                if (!segment.matches()) {
                    throw new IllegalArgumentException("the path '" + text + "' has the segment '" + part
                            + "': expected a literal, or {name}, {name:word} or {name:number} with perhaps a"
                            + " literal behind it");
                }
                segments.add(
                        segment.group(2) == null
                                ? new Segment("", Kind.TEXT, part)
                                : new Segment(segment.group(2), Kind.of(segment.group(3)), segment.group(4)));
            }
            return new PathPattern(List.copyOf(segments));
        }

        List<Segment> segments() {
            return segments;
        }

        int parameterCount() {
            return names.size();
        }

        /** The index of a parameter; -1 where there is none of this name. */
        int indexOf(String name) {
            return names.indexOf(name);
        }
    }

    /** Reads texts that clients have encoded for a URL: those that have no {@code %} as they are. Stateless. */
    public static final class UrlText {
        private static final int DIGITS = 2;
        private static final int RADIX = 16;

        private UrlText() {}

        /** A part of a path, with slashes that were encoded. Throws GatunException INVALID_ARGUMENT if malformed. */
        public static String ofPath(String part) {
            return part.indexOf('%') < 0 ? part : decode(part);
        }

        /** The first value of a query's parameter, or empty. Throws GatunException INVALID_ARGUMENT if malformed. */
        public static String ofQuery(String query, String name) {
            for (String pair : query.split("&", -1)) {
                if (pair.startsWith(name + "=")) {
                    return ofPath(pair.substring(name.length() + 1).replace('+', ' '));
                }
            }
            return "";
        }

        private static String decode(String text) {
            byte[] given = text.getBytes(StandardCharsets.UTF_8);
            ByteBuffer decoded = ByteBuffer.allocate(given.length);
            for (int i = 0; i < given.length; i++) {
                if (given[i] != '%') {
                    decoded.put(given[i]);
                    continue;
                }
                if (i + DIGITS >= given.length) {
                    throw malformed(text);
                }
                int high = Character.digit(given[++i], RADIX);
                int low = Character.digit(given[++i], RADIX);
                if (high < 0 || low < 0) {
                    throw malformed(text);
                }
                decoded.put((byte) (high * RADIX + low));
            }
            try {
                return StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(decoded.flip())
                        .toString();
            } catch (CharacterCodingException e) {
                throw malformed(text);
            }
        }

        private static GatunException malformed(String text) {
            return GatunException.invalidArgument(
                    "'" + text + "' is not encoded as a part of a URL: expected two hexadecimal digits behind each %,"
                            + " and bytes of UTF-8");
        }
    }

    /** How paths are compared, and how requests without a route are answered, by protocol. Thread-safe. */
    public interface RouteConventions {
        /** Answers a request whose path no route has. */
        void answerUnknownPath(Exchange exchange);

        /** Answers a request whose path has other methods only, which the response says in {@code Allow} already. */
        void answerOtherMethod(Exchange exchange);

        /** Whether HEAD is answered by the route for GET, without the body, and OPTIONS tells the methods: HTTP's way. */
        default boolean answersHeadAndOptions() {
            return true;
        }

        /** Whether the case of a segment that is a literal makes no difference. */
        default boolean ignoresCase() {
            return false;
        }

        /** HTTP's own rules: 404, and 405 with {@code Allow}; the texts are JSON, as of any failure. Case counts. */
        public static final class StandardConventions implements RouteConventions {
            /** The only one that is needed. */
            public static final StandardConventions INSTANCE = new StandardConventions();

            private StandardConventions() {}

            @Override
            public void answerUnknownPath(Exchange exchange) {
                exchange.answerFailure(Status.NOT_FOUND_404, "Not Found");
            }

            @Override
            public void answerOtherMethod(Exchange exchange) {
                exchange.answerFailure(Status.METHOD_NOT_ALLOWED_405, "Method Not Allowed");
            }
        }

        /** Answers without a body to requests without a route: 400, or 405 for the wrong method. Case counts. */
        public static class BareConventions implements RouteConventions {
            /** These answers, or others for unknown paths. */
            public BareConventions() {}

            @Override
            public void answerUnknownPath(Exchange exchange) {
                exchange.answerEmpty(Status.BAD_REQUEST_400);
            }

            @Override
            public final void answerOtherMethod(Exchange exchange) {
                exchange.answerEmpty(Status.METHOD_NOT_ALLOWED_405);
            }
        }
    }
}
