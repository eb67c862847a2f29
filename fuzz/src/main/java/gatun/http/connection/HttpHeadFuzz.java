// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.fuzz.FuzzInput;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Heads of requests. A head that counts as plain is complete and strict, and no shorter one counts; the check of all
 * other heads accepts it as well, with the same result however its bytes are split.
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
            String checked = check(input, input.length);
            FuzzInput.requireEqual(check(input, 1), checked, "a head that comes byte by byte");
            read(input, checked);
        });
    }

    /** Where the head ends, or why it is refused. */
    private static String check(byte[] input, int step) {
        RequestHeadSyntax syntax = new RequestHeadSyntax();
        syntax.begin();
        try {
            int end = -1;
            for (int come = 0; end < 0 && come < input.length; ) {
                come = Math.min(come + step, input.length);
                end = syntax.check(input, 0, come);
            }
            return "ends at " + end;
        } catch (RequestHeadSyntax.RefusedHead e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static void read(byte[] input, String checked) {
        DirectRequest request = new DirectRequest();
        if (!request.read(input, 0, input.length)) {
            return;
        }
        int end = request.headEnd();
        FuzzInput.requireEqual(checked, "ends at " + end, "a plain head");
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
        FuzzInput.require(!new DirectRequest().read(input, 0, end - 1), "a head that is cut off was taken");
    }

    private static final class Syntax {
        static final String LINE = "(GET|POST) /[-._~!$&'()*+,;=:@/a-zA-Z0-9]* HTTP/1\\.1\r\n";
        static final String FIELDS = "([-!#$%&'*+.^_`|~0-9a-zA-Z]+:[\t\\x20-\\x7e]*\r\n)*\r\n";
    }
}
