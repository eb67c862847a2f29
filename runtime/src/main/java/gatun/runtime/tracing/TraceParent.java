// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The trace that a request is a part of, as the client names it in its header {@code traceparent} (W3C Trace Context).
 *
 * @param traceId 32 hexadecimal digits, not all zero
 * @param spanId 16 hexadecimal digits, not all zero
 */
public record TraceParent(String traceId, String spanId) {
    /** Versions after 00 may append fields; ff is none. */
    private static final Pattern FORM =
            Pattern.compile("(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?");

    /** Random hexadecimal digits, not all zero. */
    static String randomDigits(int count) {
        StringBuilder digits = new StringBuilder(count);
        while (digits.length() < count) {
            digits.append(String.format("%016x", ThreadLocalRandom.current().nextLong() | 1));
        }
        return digits.toString();
    }

    /** The value of the header that names this; whether it is sampled is not known here, and it is said to be. */
    public String header() {
        return "00-" + traceId + "-" + spanId + "-01";
    }

    /** The trace that a header's value names; empty when it is malformed, which counts as no header. */
    public static Optional<TraceParent> parse(String header) {
        Matcher form = FORM.matcher(header.strip());
        if (!form.matches() || (form.group(1).equals("00") && form.group(4) != null)) {
            return Optional.empty();
        }
        return Optional.of(new TraceParent(form.group(2), form.group(3)));
    }
}
