// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.connection.ChunkSyntax.HttpCharacters;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Reads heads of requests, line by line as their bytes come. Refuses all that a proxy in front may read differently:
 * where head and body end, and for which host it is. Knows plain heads, which nearly all are: GET or POST of HTTP/1.1,
 * a path without anything to decode or resolve, a host, at most an announced length, and a connection that stays open.
 * Their parts can be asked for where they lie. Not thread-safe.
 */
final class RequestHeadParser {
    static final int MAX_LINE_BYTES = 16 * 1024;

    /** The most bytes of a whole head. */
    static final int MAX_BYTES = 64 * 1024;

    /** A plain head ends before this index of its array: an unfinished line is read again when more of it has come. */
    static final int PLAIN_END = 6 * 1024;

    private static final int MAX_HEADERS = 256;
    private static final int MAX_PLAIN_HEADERS = 32;

    /** The number of {@link #places} of a header: where its name begins and ends, and its value. */
    private static final int PLACES = 4;

    /** Up to so many digits a length is no larger than a long. */
    private static final int LENGTH_DIGITS = 18;

    private static final byte[] NONE = {};
    private static final byte[] GET = ascii("GET ");
    private static final byte[] POST = ascii("POST ");
    private static final byte[] VERSION = ascii(" HTTP/1.1\r\n");

    /** Headers that ask something of the connection, or of the bytes that follow. */
    private static final String[] NOT_PLAIN = {"expect", "upgrade", "http2-settings", "trailer", "te", "x-helidon-cn"};

    private static final Status TOO_LARGE = Status.create(431, "Request Header Fields Too Large");

    private static final String MALFORMED_LINE =
            "the request line is malformed: expected a method, a path, and HTTP/1.1 or HTTP/1.0";
    static final String MALFORMED_HEADER =
            "a header is malformed: expected a name, a colon right behind it, and a value without control characters";
    private static final String LINE_END =
            "a line of the request's head does not end in a carriage return and a line feed";

    /** The result of a look at the bytes that have come. */
    enum Outcome {
        /** More of the head must come. */
        INCOMPLETE,
        PLAIN,
        /** The head is well-formed, and not plain. */
        OTHER
    }

    /** A head that is refused; the connection ends with the response. */
    static final class RefusedHead extends Exception {
        private static final long serialVersionUID = 1;

        private final transient Status status;

        RefusedHead(Status status, String text) {
            super(text, null, false, false);
            this.status = status;
        }

        Status status() {
            return status;
        }
    }

    /** The reader's bytes; they may be long, and are not kept beyond a head that is not plain. */
    private byte[] bytes = NONE;

    /** The head's first byte. Other places are counted from it: the bytes may move until all have come. */
    private int begin;

    /** Whether the head was read to its end, or refused: the next bytes are of another. */
    private boolean ended = true;

    private int lineBegin;

    /** How many bytes were searched for the end of a line. */
    private int searched;

    private int headEnd;
    private boolean plain;
    private boolean old;
    private Method method = Method.GET;
    private int pathBegin;
    private int pathEnd;
    private String authority = "";
    private final int[] places = new int[PLACES * MAX_PLAIN_HEADERS];
    private int headers;
    private int hostBegin;
    private int hostEnd;
    private int hosts;
    private int lengths;
    private long announcedByteSize;
    private int encodings;

    private void forget() {
        ended = false;
        lineBegin = 0;
        searched = 0;
        plain = true;
        authority = "";
        headers = 0;
        hosts = 0;
        lengths = 0;
        announcedByteSize = 0;
        encodings = 0;
    }

    /** Reads a head in {@code source} from {@code headBegin} on, as far as it came. Throws if malformed or too long. */
    Outcome parse(byte[] source, int headBegin, int end) throws RefusedHead {
        if (ended) {
            forget();
        }
        bytes = source;
        begin = headBegin;
        try {
            while (true) {
                int line = begin + lineBegin;
                int next = plain && end <= PLAIN_END ? plainLine(line, end) : -1;
                if (next < 0) {
                    next = nextLine(line, end);
                    if (next < 0) {
                        return Outcome.INCOMPLETE;
                    }
                    plain = false;
                    checkLine(line, next - 2);
                }
                if (line > begin && next - 2 == line) {
                    requireWhole();
                    ended = true;
                    headEnd = next;
                    return plain ? Outcome.PLAIN : Outcome.OTHER;
                }
                lineBegin = next - begin;
            }
        } catch (RefusedHead e) {
            ended = true;
            throw e;
        } finally {
            if (ended && !plain) {
                bytes = NONE;
            }
        }
    }

    /** The index behind the last head. */
    int headEnd() {
        return headEnd;
    }

    /** Where the line behind a plain one begins; -1 when it is not plain, or not all there. */
    private int plainLine(int line, int end) throws RefusedHead {
        if (line == begin) {
            return plainRequestLine(line, end);
        }
        boolean last = line + 1 < end && bytes[line] == '\r' && bytes[line + 1] == '\n';
        return last ? line + 2 : plainHeader(line, end);
    }

    private int plainRequestLine(int line, int end) {
        int path;
        if (begins(GET, line, end)) {
            method = Method.GET;
            path = line + GET.length;
        } else if (begins(POST, line, end)) {
            method = Method.POST;
            path = line + POST.length;
        } else {
            return -1;
        }
        int at = path;
        byte before = 0;
        while (at < end && HttpCharacters.isInPlainPaths(bytes[at])) {
            if (before == '/' && (bytes[at] == '/' || bytes[at] == '.')) {
                return -1;
            }
            before = bytes[at++];
        }
        if (at == path || bytes[path] != '/' || !begins(VERSION, at, end)) {
            return -1;
        }
        old = false;
        pathBegin = path - begin;
        pathEnd = at - begin;
        return at + VERSION.length;
    }

    private int plainHeader(int line, int end) throws RefusedHead {
        int nameEnd = tokenEnd(line, end);
        if (headers == MAX_PLAIN_HEADERS || nameEnd == line || nameEnd >= end || bytes[nameEnd] != ':') {
            return -1;
        }
        int valueBegin = nameEnd + 1;
        while (valueBegin < end && HttpCharacters.isBlank(bytes[valueBegin])) {
            valueBegin++;
        }
        int lineEnd = valueBegin;
        while (lineEnd < end && isText(bytes[lineEnd])) {
            lineEnd++;
        }
        if (lineEnd + 1 >= end || bytes[lineEnd] != '\r' || bytes[lineEnd + 1] != '\n') {
            return -1;
        }
        int valueEnd = lineEnd;
        while (valueEnd > valueBegin && HttpCharacters.isBlank(bytes[valueEnd - 1])) {
            valueEnd--;
        }
        int place = PLACES * headers++;
        places[place] = line - begin;
        places[place + 1] = nameEnd - begin;
        places[place + 2] = valueBegin - begin;
        places[place + 3] = valueEnd - begin;
        field(line - begin, nameEnd - begin, valueBegin - begin, valueEnd - begin);
        return lineEnd + 2;
    }

    /** Where the next line begins; -1 when the end of this one has not come. */
    private int nextLine(int line, int end) throws RefusedHead {
        for (int at = Math.max(begin + searched, line); at < end; at++) {
            boolean ends = bytes[at] == '\n';
            searched = at + 1 - begin;
            requireSize(line == begin && !ends);
            if (ends) {
                if (at == line || bytes[at - 1] != '\r') {
                    throw refused(LINE_END);
                }
                return at + 1;
            }
        }
        return -1;
    }

    private void requireSize(boolean withinLine) throws RefusedHead {
        if (withinLine && searched > MAX_LINE_BYTES) {
            throw new RefusedHead(
                    Status.REQUEST_URI_TOO_LONG_414, "the request line has more than " + MAX_LINE_BYTES + " bytes");
        }
        if (searched > MAX_BYTES) {
            throw new RefusedHead(
                    TOO_LARGE,
                    "the request's head has more than " + MAX_BYTES + " bytes; send fewer or shorter headers");
        }
    }

    private void checkLine(int line, int end) throws RefusedHead {
        if (line == begin) {
            requestLine(line, end);
        } else if (end > line) {
            header(line, end);
        }
    }

    private void requestLine(int line, int end) throws RefusedHead {
        int target = tokenEnd(line, end) + 1;
        if (target == line + 1 || target >= end || bytes[target - 1] != ' ') {
            throw refused(MALFORMED_LINE);
        }
        int targetEnd = target;
        while (targetEnd < end && bytes[targetEnd] != ' ') {
            if (HttpCharacters.isControl(bytes[targetEnd]) || bytes[targetEnd] == '\t') {
                throw refused(MALFORMED_LINE);
            }
            targetEnd++;
        }
        String version = targetEnd < end ? text(targetEnd + 1, end) : "";
        old = version.equals("HTTP/1.0");
        if ((!old && !version.equals("HTTP/1.1")) || target == targetEnd) {
            throw refused(MALFORMED_LINE);
        }
        target(text(target, targetEnd));
    }

    /** A path, an absolute URI as proxies receive it, or the asterisk that stands for the server. */
    private void target(String target) throws RefusedHead {
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

    private void header(int line, int end) throws RefusedHead {
        int nameEnd = tokenEnd(line, end);
        if (nameEnd == line || nameEnd == end || bytes[nameEnd] != ':') {
            throw refused(MALFORMED_HEADER);
        }
        int valueBegin = end;
        int valueEnd = nameEnd + 1;
        for (int at = nameEnd + 1; at < end; at++) {
            if (HttpCharacters.isControl(bytes[at])) {
                throw refused(MALFORMED_HEADER);
            }
            if (!HttpCharacters.isBlank(bytes[at])) {
                valueBegin = Math.min(valueBegin, at);
                valueEnd = at + 1;
            }
        }
        if (++headers > MAX_HEADERS) {
            throw new RefusedHead(TOO_LARGE, "the request has more than " + MAX_HEADERS + " headers");
        }
        field(line - begin, nameEnd - begin, Math.min(valueBegin, valueEnd) - begin, valueEnd - begin);
    }

    private void field(int nameBegin, int nameEnd, int valueBegin, int valueEnd) throws RefusedHead {
        if (reads(nameBegin, nameEnd, "host")) {
            host(valueBegin, valueEnd);
        } else if (reads(nameBegin, nameEnd, "content-length")) {
            contentLength(valueBegin, valueEnd);
        } else if (reads(nameBegin, nameEnd, "transfer-encoding")) {
            plain = false;
            if (++encodings > 1 || !reads(valueBegin, valueEnd, "chunked")) {
                throw refused("the Transfer-Encoding is not known here: expected chunked, and nothing else");
            }
        } else if (reads(nameBegin, nameEnd, "connection")) {
            plain &= reads(valueBegin, valueEnd, "keep-alive");
        } else if (plain) {
            for (String name : NOT_PLAIN) {
                plain &= !reads(nameBegin, nameEnd, name);
            }
        }
    }

    private void host(int valueBegin, int valueEnd) throws RefusedHead {
        if (++hosts > 1) {
            throw refused("the request has more than one Host header");
        }
        for (int at = begin + valueBegin; at < begin + valueEnd; at++) {
            if (!HttpCharacters.isInHosts(bytes[at])) {
                throw refused("the Host header is malformed: expected a host, and perhaps a colon and a port");
            }
            plain &= HttpCharacters.isInPlainHosts(bytes[at]);
        }
        hostBegin = valueBegin;
        hostEnd = valueEnd;
    }

    private void contentLength(int valueBegin, int valueEnd) throws RefusedHead {
        if (++lengths > 1) {
            throw refused("the request has more than one Content-Length header");
        }
        boolean number = valueBegin < valueEnd && valueEnd - valueBegin <= LENGTH_DIGITS;
        long length = 0;
        for (int at = begin + valueBegin; number && at < begin + valueEnd; at++) {
            int digit = bytes[at] - '0';
            number = digit >= 0 && digit <= 9;
            length = 10 * length + digit;
        }
        if (!number) {
            throw refused("the Content-Length header is malformed: expected one number of at most " + LENGTH_DIGITS
                    + " digits");
        }
        announcedByteSize = length;
    }

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
        if (!authority.isEmpty() && hosts > 0 && !reads(hostBegin, hostEnd, authority)) {
            throw refused("the request's target and its Host header name different hosts");
        }
    }

    /** The method of the last head, if that is plain. */
    Method method() {
        return method;
    }

    /** The path of the last head, if that is plain: {@code known}, if it is the same text. */
    String path(String known) {
        boolean same = pathEnd - pathBegin == known.length();
        for (int i = 0; same && i < known.length(); i++) {
            same = bytes[begin + pathBegin + i] == known.charAt(i);
        }
        return same ? known : text(begin + pathBegin, begin + pathEnd);
    }

    /** The body's size in bytes, 0 if none is announced. */
    long announcedByteSize() {
        return announcedByteSize;
    }

    /** Whether the last head, if that is plain, is for {@code lowerCase}. */
    boolean isFor(String lowerCase) {
        return reads(hostBegin, hostEnd, lowerCase);
    }

    int headerCount() {
        return headers;
    }

    /** The first header of this name in the last head, if that is plain; -1 for none. */
    int indexOf(String lowerCase) {
        for (int header = 0; header < headers; header++) {
            if (reads(places[PLACES * header], places[PLACES * header + 1], lowerCase)) {
                return header;
            }
        }
        return -1;
    }

    String name(int header) {
        return text(begin + places[PLACES * header], begin + places[PLACES * header + 1]);
    }

    /** The value of a header, without the blanks around it. */
    String value(int header) {
        return text(begin + places[PLACES * header + 2], begin + places[PLACES * header + 3]);
    }

    private boolean reads(int from, int to, String lowerCase) {
        if (to - from != lowerCase.length()) {
            return false;
        }
        for (int i = 0; i < lowerCase.length(); i++) {
            byte b = bytes[begin + from + i];
            if ((b >= 'A' && b <= 'Z' ? b | 0x20 : b) != lowerCase.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private int tokenEnd(int from, int end) {
        int at = from;
        while (at < end && HttpCharacters.isInNames(bytes[at])) {
            at++;
        }
        return at;
    }

    private boolean begins(byte[] prefix, int from, int end) {
        return end - from >= prefix.length
                && Arrays.equals(prefix, 0, prefix.length, bytes, from, from + prefix.length);
    }

    private String text(int from, int to) {
        return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
    }

    private static boolean isText(byte b) {
        return b == '\t' || (b >= ' ' && b < 0x7f);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static RefusedHead refused(String text) {
        return new RefusedHead(Status.BAD_REQUEST_400, text);
    }
}
