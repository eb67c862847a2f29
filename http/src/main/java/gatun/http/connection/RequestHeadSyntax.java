// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import io.helidon.http.Status;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Checks the head of a request, line by line as its bytes come, and refuses everything that a proxy in front of the
 * server may read differently: where the head ends, where the body ends, and for which host the request is. Helidon
 * reads the heads that pass. One object checks one head after the other. Not thread-safe.
 */
final class RequestHeadSyntax {
    /** The most bytes of a request line. */
    static final int MAX_LINE_BYTES = 16 * 1024;

    /** The most bytes of a whole head. */
    static final int MAX_BYTES = 64 * 1024;

    /** The most header lines. */
    private static final int MAX_HEADERS = 256;

    /** Up to so many digits a length is no larger than a long. */
    private static final int LENGTH_DIGITS = 18;

    private static final Status TOO_LARGE = Status.create(431, "Request Header Fields Too Large");

    private static final String MALFORMED_LINE =
            "the request line is malformed: expected a method, a path, and HTTP/1.1 or HTTP/1.0";
    private static final String MALFORMED_HEADER =
            "a header is malformed: expected a name, a colon right behind it, and a value without control characters";
    private static final String LINE_END =
            "a line of the request's head does not end in a carriage return and a line feed";

    /** A head that is refused; the connection ends with the response. */
    static final class RefusedHead extends Exception {
        private static final long serialVersionUID = 1;

        private final transient Status status;

        RefusedHead(Status status, String text) {
            super(text, null, false, false);
            this.status = status;
        }

        /** A head for which there is no room at the moment. */
        static RefusedHead forNow(String text) {
            return new RefusedHead(Status.SERVICE_UNAVAILABLE_503, text);
        }

        /** The status of the response. */
        Status status() {
            return status;
        }
    }

    private static final byte[] NONE = {};

    /** The reader's bytes while a head is checked; they may be long, and are not kept. */
    private byte[] bytes = NONE;

    /** Where the next byte to check, and the line that it is in, begin: both counted from the head's beginning. */
    private int next;

    private int lineBegin;
    private boolean old;
    private String authority = "";
    private String host = "";
    private int headers;
    private int hosts;
    private int lengths;
    private int encodings;

    /** Forgets the previous head. */
    void begin() {
        bytes = NONE;
        next = 0;
        lineBegin = 0;
        authority = "";
        host = "";
        headers = 0;
        hosts = 0;
        lengths = 0;
        encodings = 0;
    }

    /**
     * Checks the bytes of a head that have come since the last call.
     *
     * @param source holds the head from {@code begin} on, and all of it that has come before {@code end}
     * @return the end of the head, where the bytes that follow it begin; -1 when it is not all there
     * @throws RefusedHead when it is malformed or too long
     */
    int check(byte[] source, int begin, int end) throws RefusedHead {
        bytes = source;
        while (begin + next < end) {
            int at = begin + next++;
            requireSize(bytes[at] == '\n');
            if (bytes[at] == '\n') {
                int line = begin + lineBegin;
                if (at == line || bytes[at - 1] != '\r') {
                    throw refused(LINE_END);
                }
                if (line == begin) {
                    requestLine(line, at - 1);
                } else if (at - 1 == line) {
                    requireWhole();
                    return at + 1;
                } else {
                    header(line, at - 1);
                }
                lineBegin = next;
            }
        }
        return -1;
    }

    private void requireSize(boolean lineEnds) throws RefusedHead {
        if (lineBegin == 0 && !lineEnds && next > MAX_LINE_BYTES) {
            throw new RefusedHead(
                    Status.REQUEST_URI_TOO_LONG_414, "the request line has more than " + MAX_LINE_BYTES + " bytes");
        }
        if (next > MAX_BYTES) {
            throw new RefusedHead(
                    TOO_LARGE,
                    "the request's head has more than " + MAX_BYTES + " bytes; send fewer or shorter headers");
        }
    }

    private void requestLine(int begin, int end) throws RefusedHead {
        int target = tokenEnd(begin, end) + 1;
        if (target == begin + 1 || target >= end || bytes[target - 1] != ' ') {
            throw refused(MALFORMED_LINE);
        }
        int targetEnd = target;
        while (targetEnd < end && bytes[targetEnd] != ' ') {
            if (isControl(bytes[targetEnd])) {
                throw refused(MALFORMED_LINE);
            }
            targetEnd++;
        }
        String version = targetEnd < end ? text(targetEnd + 1, end) : "";
        old = version.equals("HTTP/1.0");
        if (!old && !version.equals("HTTP/1.1")) {
            throw refused(MALFORMED_LINE);
        }
        target(text(target, targetEnd), targetEnd - target);
    }

    /** A path, an absolute URI as proxies receive it, or the asterisk that stands for the server. */
    private void target(String target, int length) throws RefusedHead {
        if (length == 0) {
            throw refused(MALFORMED_LINE);
        }
        if (target.charAt(0) == '/' || target.equals("*")) {
            return;
        }
        String lower = target.toLowerCase(Locale.ROOT);
        int server = lower.startsWith("http://") ? 7 : lower.startsWith("https://") ? 8 : -1;
        if (server < 0) {
            throw refused("the request's target is malformed: expected a path that begins with a slash");
        }
        int end = server;
        while (end < lower.length() && "/?#".indexOf(lower.charAt(end)) < 0) {
            end++;
        }
        authority = lower.substring(server, end);
        if (authority.isEmpty()) {
            throw refused("the request's target names no host");
        }
    }

    private void header(int begin, int end) throws RefusedHead {
        int nameEnd = tokenEnd(begin, end);
        if (nameEnd == begin || nameEnd == end || bytes[nameEnd] != ':') {
            throw refused(MALFORMED_HEADER);
        }
        for (int at = nameEnd + 1; at < end; at++) {
            if (isControl(bytes[at]) && bytes[at] != '\t') {
                throw refused(MALFORMED_HEADER);
            }
        }
        if (++headers > MAX_HEADERS) {
            throw new RefusedHead(TOO_LARGE, "the request has more than " + MAX_HEADERS + " headers");
        }
        switch (text(begin, nameEnd).toLowerCase(Locale.ROOT)) {
            case "host" -> host(value(nameEnd + 1, end));
            case "content-length" -> contentLength(value(nameEnd + 1, end));
            case "transfer-encoding" -> transferEncoding(value(nameEnd + 1, end));
            default -> {
                // Does not affect where the request ends.
            }
        }
    }

    private void host(String value) throws RefusedHead {
        if (++hosts > 1) {
            throw refused("the request has more than one Host header");
        }
        if (!isHost(value)) {
            throw refused("the Host header is malformed: expected a host, and perhaps a colon and a port");
        }
        host = value.toLowerCase(Locale.ROOT);
    }

    private void contentLength(String value) throws RefusedHead {
        if (++lengths > 1) {
            throw refused("the request has more than one Content-Length header");
        }
        boolean number = !value.isEmpty()
                && value.length() <= LENGTH_DIGITS
                && value.chars().allMatch(c -> c >= '0' && c <= '9');
        if (!number) {
            throw refused("the Content-Length header is malformed: expected one number of at most " + LENGTH_DIGITS
                    + " digits");
        }
    }

    private void transferEncoding(String value) throws RefusedHead {
        if (++encodings > 1 || !value.equalsIgnoreCase("chunked")) {
            throw refused("the Transfer-Encoding is not known here: expected chunked, and nothing else");
        }
    }

    /** Checks that can be made only on the head as a whole. */
    private void requireWhole() throws RefusedHead {
        if (encodings > 0 && lengths > 0) {
            throw refused("Transfer-Encoding and Content-Length headers must not be combined");
        }
        if (encodings > 0 && old) {
            throw refused("HTTP/1.0 knows no Transfer-Encoding; use HTTP/1.1");
        }
        if (hosts == 0 && !old) {
            throw refused("the request has no Host header");
        }
        if (!authority.isEmpty() && hosts > 0 && !authority.equals(host)) {
            throw refused("the request's target and its Host header name different hosts");
        }
    }

    /** Whether {@code value} can name a host and a port; an empty one stands for none. */
    private static boolean isHost(String value) {
        return value.chars().allMatch(c -> c > ' ' && c < 0x7f && "/?#@\\,\"<>^`{|}".indexOf(c) < 0);
    }

    private int tokenEnd(int begin, int end) {
        int at = begin;
        while (at < end && DirectRequest.isInNames(bytes[at])) {
            at++;
        }
        return at;
    }

    private String value(int begin, int end) {
        int first = begin;
        int last = end;
        while (first < last && isBlank(bytes[first])) {
            first++;
        }
        while (last > first && isBlank(bytes[last - 1])) {
            last--;
        }
        return text(first, last);
    }

    private String text(int begin, int end) {
        return new String(bytes, begin, end - begin, StandardCharsets.ISO_8859_1);
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b == '\t';
    }

    private static boolean isControl(byte b) {
        return (b >= 0 && b < ' ') || b == 0x7f;
    }

    private static RefusedHead refused(String text) {
        return new RefusedHead(Status.BAD_REQUEST_400, text);
    }
}
