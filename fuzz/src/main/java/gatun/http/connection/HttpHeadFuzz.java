// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.fuzz.FuzzInput;
import gatun.http.connection.IncomingRequest.FastPathRequest;
import gatun.http.connection.RequestHeadParser.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Heads of requests. The result is the same however their bytes are split, and where heads are not looked at as plain
 * ones. A head that counts as plain is complete and strict, and no shorter one counts.
 */
public final class HttpHeadFuzz {
    /** The heads that may be taken for plain, loosely. */
    private static final Pattern HEAD = Pattern.compile(Syntax.LINE + Syntax.FIELDS);

    private static final Pattern HOST = Pattern.compile("\r\nhost:", Pattern.CASE_INSENSITIVE);
    private static final Pattern LENGTH =
            Pattern.compile("\r\ncontent-length:[ \t]*([0-9]+)[ \t]*\r", Pattern.CASE_INSENSITIVE);
    private static final Pattern OTHERS_TO_OBEY =
            Pattern.compile("\r\n(transfer-encoding|expect|upgrade|trailer|te):", Pattern.CASE_INSENSITIVE);

    private HttpHeadFuzz() {}

    /** Reads the input as the beginning of a connection. */
    public static void fuzzerTestOneInput(byte[] input) {
        FuzzInput.run(input, () -> {
            String whole = check(input, input.length, 0);
            FuzzInput.requireEqual(check(input, 1, 0), whole, "a head that comes byte by byte");
            String strict = check(input, input.length, RequestHeadParser.PLAIN_END);
            FuzzInput.requireEqual(strict, whole.replace("PLAIN", "OTHER"), "a head that cannot count as plain");
            if (whole.startsWith("PLAIN")) {
                read(input);
            }
        });
    }

    /** What the head is, and where it ends, or why it is refused: of one that begins at {@code begin} of an array. */
    private static String check(byte[] input, int step, int begin) {
        RequestHeadParser parser = new RequestHeadParser();
        byte[] bytes = new byte[begin + input.length];
        System.arraycopy(input, 0, bytes, begin, input.length);
        try {
            Outcome outcome = Outcome.INCOMPLETE;
            for (int come = 0; outcome == Outcome.INCOMPLETE && come < input.length; ) {
                come = Math.min(come + step, input.length);
                outcome = parser.parse(bytes, begin, begin + come);
            }
            return outcome == Outcome.INCOMPLETE ? outcome.name() : outcome + " ends at " + (parser.headEnd() - begin);
        } catch (RequestHeadParser.RefusedHead e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static Outcome parse(RequestHeadParser parser, byte[] input, int end) {
        try {
            return parser.parse(input, 0, end);
        } catch (RequestHeadParser.RefusedHead e) {
            throw new AssertionError("a plain head, or its beginning, is refused", e);
        }
    }

    private static void read(byte[] input) {
        RequestHeadParser parser = new RequestHeadParser();
        FuzzInput.requireEqual(parse(parser, input, input.length), Outcome.PLAIN, "a head that is read again");
        FastPathRequest request = new FastPathRequest(parser);
        request.begin();
        int end = parser.headEnd();
        FuzzInput.require(end <= input.length, "the head ends where nothing is");
        String head = new String(input, 0, end, StandardCharsets.ISO_8859_1);
        FuzzInput.require(HEAD.matcher(head).matches(), "not a plain head: " + head);
        FuzzInput.requireEqual(HOST.matcher(head).results().count(), 1L, "hosts of " + head);
        FuzzInput.require(!OTHERS_TO_OBEY.matcher(head).find(), "more is asked than was looked at: " + head);
        long announced = LENGTH.matcher(head)
                .results()
                .mapToLong(length -> Long.parseLong(length.group(1)))
                .findFirst()
                .orElse(0);
        FuzzInput.requireEqual(request.announcedByteSize(), announced, "the body's size of " + head);
        FuzzInput.requireEqual(request.path(), head.split(" ", 3)[1], "the path of " + head);
        request.eachHeader((name, value) -> FuzzInput.require(
                !name.isEmpty() && value.equals(value.strip()), "the header '" + name + "' with '" + value + "'"));
        Outcome cutOff = parse(new RequestHeadParser(), input, end - 1);
        FuzzInput.requireEqual(cutOff, Outcome.INCOMPLETE, "a head that is cut off");
    }

    private static final class Syntax {
        static final String LINE = "(GET|POST) /[-._~!$&'()*+,;=:@/a-zA-Z0-9]* HTTP/1\\.1\r\n";
        static final String FIELDS = "([-!#$%&'*+.^_`|~0-9a-zA-Z]+:[\t\\x20-\\x7e]*\r\n)*\r\n";
    }
}
