// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.MalformedResponseException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** The head of a connection's current response; reused. Not thread-safe. */
final class ResponseHead {
    static final long NONE = -1;
    private static final byte[] CONTENT_LENGTH = ascii("content-length");
    private static final byte[] TRANSFER_ENCODING = ascii("transfer-encoding");
    private static final byte[] CONTENT_ENCODING = ascii("content-encoding");
    private static final byte[] CONNECTION = ascii("connection");
    private static final byte[] JSON_LENGTH = ascii("inference-header-content-length");
    private static final byte[] CHUNKED = ascii("chunked");
    private static final byte[] CLOSE = ascii("close");
    private static final byte[] KEEP_ALIVE = ascii("keep-alive");
    private static final byte[] GZIP = ascii("gzip");
    private static final byte[] X_GZIP = ascii("x-gzip");
    private static final byte[] DEFLATE = ascii("deflate");
    private static final byte[] IDENTITY = ascii("identity");
    private static final byte[] VERSION = ascii("http/1.");

    /** How the body is compressed. */
    enum Encoding {
        IDENTITY,
        GZIP,
        DEFLATE
    }

    private int status;
    private long contentLength;
    private long jsonLength;
    private boolean chunked;
    private boolean persistent;
    private Encoding encoding = Encoding.IDENTITY;

    int status() {
        return status;
    }

    boolean isSuccess() {
        return status / 100 == 2;
    }

    /** Whether a head with the real status follows. */
    boolean isInterim() {
        return status / 100 == 1;
    }

    /** How many bytes the body has; {@link #NONE} where that is not said. */
    long contentLength() {
        return contentLength;
    }

    /** How many of them are JSON, with tensors behind; {@link #NONE} where all are. */
    long jsonLength() {
        return jsonLength;
    }

    boolean isChunked() {
        return chunked;
    }

    /** Whether the connection stays open afterwards. */
    boolean isPersistent() {
        return persistent;
    }

    Encoding encoding() {
        return encoding;
    }

    boolean hasBody() {
        return status != 204 && status != 304;
    }

    /** Reads the head in {@code in} up to {@code end}. Throws {@link MalformedResponseException}. */
    void parse(ByteBuffer in, int end) {
        contentLength = NONE;
        jsonLength = NONE;
        chunked = false;
        encoding = Encoding.IDENTITY;
        int at = in.position();
        int lineEnd = lineEnd(in, at, end);
        statusLine(in, at, lineEnd);
        for (at = next(in, lineEnd); at < end; at = next(in, lineEnd)) {
            lineEnd = lineEnd(in, at, end);
            if (lineEnd > at) {
                field(in, at, lineEnd);
            }
        }
        if (chunked && contentLength != NONE) {
            // Who says both may have been tricked into it: see RFC 9112, 6.3.
            contentLength = NONE;
            persistent = false;
        }
    }

    /** The value of the field {@code name} of a head that was copied. */
    static Optional<String> field(String head, String name) {
        for (String line : head.split("\r?\n", -1)) {
            int colon = line.indexOf(':');
            if (colon > 0 && line.substring(0, colon).equalsIgnoreCase(name)) {
                return Optional.of(line.substring(colon + 1).strip());
            }
        }
        return Optional.empty();
    }

    private void statusLine(ByteBuffer in, int from, int to) {
        int digits = from + VERSION.length + 2;
        if (to - from < VERSION.length + 5
                || !startsWith(in, from, VERSION)
                || in.get(digits - 1) != ' '
                || (to > digits + 3 && in.get(digits + 3) != ' ')) {
            throw new MalformedResponseException(
                    "the answer begins with '" + text(in, from, to) + "': expected a status line of HTTP/1.1");
        }
        // HTTP/1.0 closes unless it says otherwise.
        persistent = in.get(from + VERSION.length) != '0';
        status = 0;
        for (int i = digits; i < digits + 3; i++) {
            int digit = in.get(i) - '0';
            if (digit < 0 || digit > 9) {
                throw new MalformedResponseException(
                        "the answer begins with '" + text(in, from, to) + "': expected a status of three digits");
            }
            status = status * 10 + digit;
        }
    }

    private void field(ByteBuffer in, int from, int to) {
        int colon = from;
        while (colon < to && in.get(colon) != ':') {
            colon++;
        }
        if (colon == to) {
            throw new MalformedResponseException("the answer's head has the line '" + text(in, from, to)
                    + "': expected a name and a value with a colon between them");
        }
        int value = colon + 1;
        int valueEnd = to;
        while (value < valueEnd && isBlank(in.get(value))) {
            value++;
        }
        while (valueEnd > value && isBlank(in.get(valueEnd - 1))) {
            valueEnd--;
        }
        switch (colon - from) {
            case 10 -> {
                if (equals(in, from, colon, CONNECTION)) {
                    connection(in, value, valueEnd);
                }
            }
            case 14 -> {
                if (equals(in, from, colon, CONTENT_LENGTH)) {
                    long length = number(in, from, value, valueEnd);
                    if (contentLength != NONE && contentLength != length) {
                        throw new MalformedResponseException("the answer has two lengths, " + contentLength + " and "
                                + length + " bytes: expected one Content-Length");
                    }
                    contentLength = length;
                }
            }
            case 16 -> {
                if (equals(in, from, colon, CONTENT_ENCODING)) {
                    encoding(in, value, valueEnd);
                }
            }
            case 17 -> {
                if (equals(in, from, colon, TRANSFER_ENCODING)) {
                    if (!equals(in, value, valueEnd, CHUNKED)) {
                        throw new MalformedResponseException("the answer's Transfer-Encoding is '"
                                + text(in, value, valueEnd) + "': expected 'chunked'");
                    }
                    chunked = true;
                }
            }
            case 31 -> {
                if (equals(in, from, colon, JSON_LENGTH)) {
                    jsonLength = number(in, from, value, valueEnd);
                }
            }
            default -> {
                // Says nothing about how to read the body.
            }
        }
    }

    private void connection(ByteBuffer in, int from, int to) {
        for (int at = from; at < to; ) {
            int end = at;
            while (end < to && in.get(end) != ',') {
                end++;
            }
            int last = end;
            while (last > at && isBlank(in.get(last - 1))) {
                last--;
            }
            if (equals(in, at, last, CLOSE)) {
                persistent = false;
            } else if (equals(in, at, last, KEEP_ALIVE)) {
                persistent = true;
            }
            at = end + 1;
            while (at < to && isBlank(in.get(at))) {
                at++;
            }
        }
    }

    private void encoding(ByteBuffer in, int from, int to) {
        if (equals(in, from, to, GZIP) || equals(in, from, to, X_GZIP)) {
            encoding = Encoding.GZIP;
        } else if (equals(in, from, to, DEFLATE)) {
            encoding = Encoding.DEFLATE;
        } else if (from < to && !equals(in, from, to, IDENTITY)) {
            throw new MalformedResponseException(
                    "the answer's Content-Encoding is '" + text(in, from, to) + "': expected gzip, deflate or none");
        }
    }

    private static long number(ByteBuffer in, int name, int from, int to) {
        long number = 0;
        for (int i = from; i < to; i++) {
            int digit = in.get(i) - '0';
            if (digit < 0 || digit > 9 || number > (Long.MAX_VALUE - digit) / 10) {
                throw new MalformedResponseException(
                        "the answer's head has the line '" + text(in, name, to) + "': expected a number of bytes");
            }
            number = number * 10 + digit;
        }
        if (from == to) {
            throw new MalformedResponseException(
                    "the answer's head has the line '" + text(in, name, to) + "': expected a number of bytes");
        }
        return number;
    }

    /** Where the line that begins at {@code from} ends, without its line end. */
    private static int lineEnd(ByteBuffer in, int from, int end) {
        int at = from;
        while (at < end && in.get(at) != '\n') {
            at++;
        }
        return at > from && in.get(at - 1) == '\r' ? at - 1 : at;
    }

    private static int next(ByteBuffer in, int lineEnd) {
        return in.get(lineEnd) == '\r' ? lineEnd + 2 : lineEnd + 1;
    }

    private static boolean startsWith(ByteBuffer in, int from, byte[] lower) {
        for (int i = 0; i < lower.length; i++) {
            if (lower(in.get(from + i)) != lower[i]) {
                return false;
            }
        }
        return true;
    }

    private static boolean equals(ByteBuffer in, int from, int to, byte[] lower) {
        return to - from == lower.length && startsWith(in, from, lower);
    }

    private static int lower(byte letter) {
        return letter >= 'A' && letter <= 'Z' ? letter + ('a' - 'A') : letter;
    }

    private static boolean isBlank(byte letter) {
        return letter == ' ' || letter == '\t';
    }

    private static String text(ByteBuffer in, int from, int to) {
        byte[] bytes = new byte[Math.min(to - from, 200)];
        in.get(from, bytes);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
